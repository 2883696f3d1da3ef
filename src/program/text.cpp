#include "program/text.h"

#include <algorithm>

namespace plimsoll::program {
namespace {

std::string quote(const std::string& name) { return "'" + name + "'"; }

/// Prints what is there also of a program that fails its check.
template <class T>
const T* find(const std::vector<T>& list, int index) {
  return index >= 0 && index < std::ssize(list) ? &list[index] : nullptr;
}

std::string print_range(int64_t begin, int64_t end) {
  return "[" + std::to_string(begin) + "," + std::to_string(end) + ")";
}

std::string print_address(const Residence& residence) {
  std::string out = std::string(to_string(residence.space)) + "@" + std::to_string(residence.offset_bytes);
  if (residence.slots != 1) out += "+" + std::to_string(residence.slots) + "×" + std::to_string(residence.stride_bytes);
  return out;
}

std::string name_of_buffer(const Program& program, int buffer) {
  const Buffer* found = find(program.buffers, buffer);
  return found == nullptr ? "buffer " + std::to_string(buffer) + "?" : quote(found->name);
}

std::string print_descs(const std::vector<TensorDesc>& descs) {
  std::string out;
  for (const TensorDesc& desc : descs) out += (out.empty() ? "" : ", ") + to_string(desc);
  return "(" + out + ")";
}

std::string print(const Program&, const Kernel& kernel) {
  std::string out =
      kernel.op + to_string(kernel.attributes) + " " + print_descs(kernel.srcs) + " -> " + print_descs(kernel.dsts);
  for (size_t i = 0; i < kernel.accumulated_dsts.size(); ++i)
    out += (i == 0 ? " adds into " : ",") + std::to_string(kernel.accumulated_dsts[i]);
  if (kernel.workspace_bytes != 0) out += " workspace " + std::to_string(kernel.workspace_bytes);
  for (size_t i = 0; i < kernel.in_place.size(); ++i)
    out += (i == 0 ? " in place " : ", ") + std::to_string(kernel.in_place[i].dst) + " over " +
           std::to_string(kernel.in_place[i].src);
  return out;
}

std::string print(const Program&, const Buffer& buffer) {
  std::string out = quote(buffer.name) + " " + std::to_string(buffer.size_bytes) + " bytes, " +
                    std::string(to_string(buffer.category));
  return buffer.origin.empty() ? out : out + ", from " + quote(buffer.origin);
}

std::string print(Point point) { return std::to_string(point.segment) + ":" + std::to_string(point.index); }

std::string print(const Program& program, const Residence& residence) {
  return name_of_buffer(program, residence.buffer) + " " + print_range(residence.begin_bytes, residence.end_bytes) +
         " " + print_address(residence) + " live " + print(residence.first) + ".." + print(residence.last);
}

std::string_view verb_of(Role role) {
  static constexpr std::array<std::string_view, kRoleCount> kVerbs{"reads", "writes", "updates to", "accumulates",
                                                                   "workspace"};
  return kVerbs[static_cast<size_t>(role)];
}

std::string print(const Program& program, const Operand& operand) {
  std::string out = std::string(verb_of(operand.role)) + " ";
  const Residence* residence = find(program.residences, operand.residence);
  if (residence == nullptr) return out + "residence " + std::to_string(operand.residence) + "?";
  out += name_of_buffer(program, residence->buffer);
  if (operand.role != Role::kWorkspace) out += " v" + std::to_string(operand.version);
  return out + " " + print_range(operand.begin_bytes, operand.end_bytes) + " " + print_address(*residence);
}

std::string print(const Wait& wait) {
  return std::string(to_string(wait.lane)) + " " + std::to_string(wait.index) +
         (wait.of_previous_iteration ? " of the previous iteration" : "");
}

std::string print(const Program& program, const Instruction& instruction) {
  std::string out = std::string(to_string(instruction.lane)) + " ";
  const Kernel* kernel = find(program.kernels, instruction.kernel);
  out += kernel == nullptr ? std::string(to_string(instruction.kind)) : kernel->op;
  if (!instruction.label.empty()) out += " " + quote(instruction.label);
  if (instruction.when != When::kAlways) out += " (" + std::string(to_string(instruction.when)) + ")";
  for (size_t i = 0; i < instruction.operands.size(); ++i)
    out += (i == 0 ? " " : "; ") + print(program, instruction.operands[i]);
  for (size_t i = 0; i < instruction.waits.size(); ++i)
    out += (i == 0 ? "; waits for " : ", ") + print(instruction.waits[i]);
  return instruction.reason.empty() ? out : out + " — " + instruction.reason;
}

std::string print(const Program& program, const StateEntry& entry) {
  const Residence* residence = find(program.residences, entry.residence);
  if (residence == nullptr) return "residence " + std::to_string(entry.residence) + "?";
  return name_of_buffer(program, residence->buffer) + " v" + std::to_string(entry.version) + " " +
         print_range(residence->begin_bytes, residence->end_bytes) + " " + print_address(*residence);
}

std::string print(const Program& program, const Output& output) {
  std::string out = quote(output.name) + " is ";
  const Residence* residence = find(program.residences, output.residence);
  if (residence == nullptr) return out + "residence " + std::to_string(output.residence) + "?";
  return out + name_of_buffer(program, residence->buffer) + " v" + std::to_string(output.version) + " " +
         print_range(output.begin_bytes, output.end_bytes) + " " + print_address(*residence);
}

template <class Element>
Section list(const Program& program, std::string title, const std::vector<Element>& elements) {
  Section out{std::move(title), {}};
  for (const Element& element : elements) out.lines.push_back(print(program, element));
  return out;
}

Section summary(const Program& program) {
  Section out{"program " + quote(program.name), {"compile hash " + program.compile_hash}};
  for (int space = 0; space < kSpaceCount; ++space)
    if (program.arena_bytes[space] != 0)
      out.lines.push_back("arena " + std::string(to_string(static_cast<Space>(space))) + " " +
                          std::to_string(program.arena_bytes[space]) + " bytes");
  return out;
}

using Lines = std::vector<std::string>;

/// The table of longest common subsequences of all suffixes: row i, column j for a[i…], b[j…].
class CommonLengths {
 public:
  CommonLengths(const Lines& a, const Lines& b) : columns_(b.size() + 1), cells_((a.size() + 1) * columns_) {
    for (size_t i = a.size(); i-- > 0;)
      for (size_t j = b.size(); j-- > 0;)
        cell(i, j) = a[i] == b[j] ? cell(i + 1, j + 1) + 1 : std::max(cell(i + 1, j), cell(i, j + 1));
  }
  int& cell(size_t i, size_t j) { return cells_[i * columns_ + j]; }

 private:
  size_t columns_;
  std::vector<int> cells_;
};

constexpr size_t kMostComparedLines = 4000;

void diff_block(const std::string& section, const Lines& a, const Lines& b, std::vector<Difference>& out) {
  size_t i = 0;
  size_t j = 0;
  if (!a.empty() && !b.empty() && std::max(a.size(), b.size()) <= kMostComparedLines) {
    CommonLengths common(a, b);
    while (i < a.size() && j < b.size()) {
      if (a[i] == b[j])
        ++i, ++j;
      else if (common.cell(i + 1, j) >= common.cell(i, j + 1))
        out.push_back({section, false, a[i++]});
      else
        out.push_back({section, true, b[j++]});
    }
  }
  for (; i < a.size(); ++i) out.push_back({section, false, a[i]});
  for (; j < b.size(); ++j) out.push_back({section, true, b[j]});
}

/// Leaves out the equal beginning and end, which is nearly all where little has changed.
void diff_lines(const std::string& section, const Lines& a, const Lines& b, std::vector<Difference>& out) {
  const auto [a_begin, b_begin] = std::ranges::mismatch(a, b);
  auto a_end = a.end();
  auto b_end = b.end();
  while (a_end != a_begin && b_end != b_begin && *(a_end - 1) == *(b_end - 1)) --a_end, --b_end;
  diff_block(section, Lines(a_begin, a_end), Lines(b_begin, b_end), out);
}

}  // namespace

std::vector<Section> to_sections(const Program& program) {
  std::vector<Section> out{summary(program), list(program, "kernels", program.kernels),
                           list(program, "buffers", program.buffers), list(program, "residences", program.residences)};
  for (const Segment& segment : program.segments)
    out.push_back(
        list(program, "segment " + quote(segment.name) + " × " + std::to_string(segment.trips), segment.instructions));
  out.push_back(list(program, "entry state", program.entry_state));
  out.push_back(list(program, "exit state", program.exit_state));
  out.push_back(list(program, "outputs", program.outputs));
  return out;
}

std::string to_text(const Program& program) {
  std::string out;
  for (const Section& section : to_sections(program)) {
    out += section.title + "\n";
    for (size_t i = 0; i < section.lines.size(); ++i) {
      const std::string number = std::to_string(i);
      out += std::string(number.size() < 4 ? 4 - number.size() : 0, ' ') + number + " " + section.lines[i] + "\n";
    }
  }
  return out;
}

std::vector<Difference> diff(const Program& a, const Program& b) {
  std::vector<Section> of_a = to_sections(a);
  std::vector<Section> of_b = to_sections(b);
  // The shorter one gets empty segments before the three sections that stand at the end.
  constexpr std::ptrdiff_t kSectionsAfterSegments = 3;
  const size_t size = std::max(of_a.size(), of_b.size());
  of_a.insert(of_a.end() - kSectionsAfterSegments, size - of_a.size(), {});
  of_b.insert(of_b.end() - kSectionsAfterSegments, size - of_b.size(), {});
  std::vector<Difference> out;
  for (size_t i = 0; i < size; ++i) {
    const std::string& title = of_b[i].title.empty() ? of_a[i].title : of_b[i].title;
    if (of_a[i].title != of_b[i].title) diff_lines("titles", {of_a[i].title}, {of_b[i].title}, out);
    diff_lines(title, of_a[i].lines, of_b[i].lines, out);
  }
  return out;
}

}  // namespace plimsoll::program
