#include "report/step_profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "report/quantities.h"

namespace plimsoll::report {
namespace {

/// Calls that people are shown; under --json it is all.
constexpr size_t kMostCalls = 20;

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

bool is_number(std::string_view name) {
  return !name.empty() && std::ranges::all_of(name, [](char c) { return c >= '0' && c <= '9'; });
}

/// Seconds of each instruction, summed over the iterations of each step.
using InstructionSeconds = std::map<std::pair<int32_t, int32_t>, std::map<int64_t, double>>;

InstructionSeconds seconds_of(std::span<const TraceSpan> spans) {
  InstructionSeconds out;
  for (const TraceSpan& span : spans)
    out[{span.segment, span.index}][span.step] += static_cast<double>(span.end_ns - span.start_ns) * 1e-9;
  return out;
}

double median_step(std::span<const TraceSpan> spans, int64_t& steps) {
  std::map<int64_t, std::pair<int64_t, int64_t>> ends;
  for (const TraceSpan& span : spans) {
    const auto [it, is_new] = ends.try_emplace(span.step, span.start_ns, span.end_ns);
    it->second.first = std::min(it->second.first, span.start_ns);
    it->second.second = std::max(it->second.second, span.end_ns);
  }
  std::vector<double> seconds;
  for (const auto& [step, range] : ends) seconds.push_back(static_cast<double>(range.second - range.first) * 1e-9);
  steps = static_cast<int64_t>(seconds.size());
  return median(std::move(seconds));
}

void add(ProfileRow& row, double seconds, int64_t calls, const CallWork& work, double bound_s) {
  const auto count = static_cast<double>(calls);
  row.calls += calls;
  row.seconds += seconds;
  row.flops += count * work.flops;
  row.bytes += count * work.bytes;
  row.bound_s += count * bound_s;
}

std::vector<ProfileRow> sorted(const std::map<std::string, ProfileRow>& rows) {
  std::vector<ProfileRow> out;
  for (const auto& [name, row] : rows) {
    out.push_back(row);
    out.back().name = name;
  }
  std::ranges::stable_sort(out, std::ranges::greater{}, &ProfileRow::seconds);
  return out;
}

/// "matmul f32[256,768] f32[768,3072] f32[3072] {transpose_b=true}": what tells one call of an op from another.
std::string call_name(const program::Kernel& kernel) {
  std::string name = kernel.op;
  for (const TensorDesc& src : kernel.srcs) name += " " + to_string(src);
  return kernel.attributes.empty() ? name : name + " " + to_string(kernel.attributes);
}

/// Names are last in a line, as calls' are long.
std::string table(const std::string& title, std::span<const ProfileRow> rows, double step_s) {
  std::string text = fmt::format("{:>7}{:>11}{:>9}{:>11}{:>9}{:>11}{:>10}  {}\n", "calls", "time", "share", "GFLOP/s",
                                 "GB/s", "bound", "of bound", title);
  for (const ProfileRow& row : rows) {
    const double rate = row.seconds > 0 ? 1e-9 / row.seconds : 0;
    text += fmt::format("{:>7}{:>11}{:>7.1f} %{:>11.1f}{:>9.2f}{:>11}{:>10.2f}  {}\n", row.calls,
                        to_duration(row.seconds), 100 * row.seconds / step_s, row.flops * rate, row.bytes * rate,
                        to_duration(row.bound_s), row.share_of_bound(), row.name);
  }
  return text + "\n";
}

}  // namespace

std::string layer_of(std::string_view path) {
  for (size_t begin = 0; begin < path.size();) {
    const size_t end = std::min(path.find('.', begin), path.size());
    if (begin > 0 && is_number(path.substr(begin, end - begin))) return std::string(path.substr(0, end));
    begin = end + 1;
  }
  return std::string(path.substr(0, path.find('.')));
}

StepProfile make_profile(const program::Program& program, std::span<const TraceSpan> spans, const Roofline& roofline) {
  StepProfile out;
  out.step_s = median_step(spans, out.steps);
  std::map<std::string, ProfileRow> ops, calls, layers;
  for (const auto& [id, by_step] : seconds_of(spans)) {
    const program::Segment& segment = program.segments[static_cast<size_t>(id.first)];
    const program::Instruction& instruction = segment.instructions[static_cast<size_t>(id.second)];
    const bool is_kernel = instruction.kind == program::Kind::kCompute;
    const auto kernel = static_cast<size_t>(instruction.kernel);
    std::vector<double> seconds;
    for (const auto& [step, sum] : by_step) seconds.push_back(sum);
    const double time = median(std::move(seconds));
    const CallWork call = is_kernel ? roofline.calls[kernel] : CallWork{};
    const std::string kind(to_string(instruction.kind));
    const std::string op = is_kernel ? program.kernels[kernel].op : kind;
    const std::string name = is_kernel ? call_name(program.kernels[kernel]) : kind;
    for (ProfileRow* row : {&ops[op], &calls[name], &layers[layer_of(instruction.label)], &out.total})
      add(*row, time, segment.trips, call, roofline.bound_s(call));
  }
  out.total.name = "all";
  out.ops = sorted(ops);
  out.calls = sorted(calls);
  out.layers = sorted(layers);
  out.between_s = std::max(0.0, out.step_s - out.total.seconds);
  return out;
}

std::string to_text(const StepProfile& profile) {
  std::vector<ProfileRow> ops = profile.ops;
  ops.push_back(profile.total);
  const std::span<const ProfileRow> calls(profile.calls);
  const std::string text = table("op", ops, profile.step_s) + table("layer", profile.layers, profile.step_s) +
                           table("call, the longest", calls.first(std::min(calls.size(), kMostCalls)), profile.step_s);
  return text + fmt::format("a step: {} (median of {}), of which {} between instructions\n",
                            to_duration(profile.step_s), profile.steps, to_duration(profile.between_s));
}

std::string to_json_lines(const StepProfile& profile) {
  std::string text;
  const auto write = [&](const char* event, const char* key, const ProfileRow& row) {
    const nlohmann::ordered_json object = {{"event", event},
                                           {key, row.name},
                                           {"calls", row.calls},
                                           {"seconds", row.seconds},
                                           {"share", profile.step_s > 0 ? row.seconds / profile.step_s : 0},
                                           {"flops", row.flops},
                                           {"bytes", row.bytes},
                                           {"bound_s", row.bound_s},
                                           {"share_of_bound", row.share_of_bound()}};
    text += object.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
  };
  for (const ProfileRow& row : profile.ops) write("profile_op", "op", row);
  for (const ProfileRow& row : profile.calls) write("profile_call", "call", row);
  for (const ProfileRow& row : profile.layers) write("profile_layer", "layer", row);
  return text;
}

}  // namespace plimsoll::report
