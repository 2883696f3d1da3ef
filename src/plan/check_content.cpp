// What every byte holds: a run of the program in which a content is (version, iteration that made it).
#include <algorithm>
#include <map>
#include <optional>

#include "plan/check_parts.h"
#include "plan/interval_map.h"

namespace plimsoll::plan::check {
namespace {

using program::Instruction;
using program::Kind;
using program::Operand;
using program::Program;
using program::Residence;
using program::Role;

/// The iteration of what is the same in all iterations.
constexpr int64_t kAllIterations = -1;
/// The iteration of what the last one of an earlier loop made for itself: no loop may take it for its own.
constexpr int64_t kLastOfEarlierLoop = -2;

struct Content {
  int version = 0;
  int64_t iteration = kAllIterations;
  bool is_total = false;  ///< of all iterations so far, or made once: after the loop it is the same for everyone
};

class ContentRun {
 public:
  explicit ContentRun(const Program& program)
      : program_(program),
        timeline_(program),
        starts_(timeline_.end() + 1),
        ends_(timeline_.end() + 1),
        contents_(program.residences.size()),
        newest_(program.buffers.size()) {
    for (int i = 0; i < std::ssize(program.residences); ++i) {
      starts_[timeline_.at(program.residences[i].first)].push_back(i);
      ends_[timeline_.at(program.residences[i].last)].push_back(i);
    }
  }

  Status run() {
    begin_lifetimes(0);
    for (const program::StateEntry& entry : program_.entry_state) {
      const Residence& residence = program_.residences[entry.residence];
      slots_of(entry.residence)[0].assign(residence.begin_bytes, residence.end_bytes, {entry.version, kAllIterations});
    }
    for (int s = 0; s < std::ssize(program_.segments); ++s) PLIMSOLL_RETURN_IF_ERROR(run_segment(s));
    PLIMSOLL_RETURN_IF_ERROR(check_exit());
    return check_outputs();
  }

 private:
  using Contents = IntervalMap<Content>;

  std::vector<Contents>& slots_of(int residence) {
    std::vector<Contents>& slots = contents_[residence];
    if (slots.empty()) slots.resize(program_.residences[residence].slots);
    return slots;
  }
  Contents& contents_of(const Operand& operand) {
    return slots_of(operand.residence)[iteration_ % program_.residences[operand.residence].slots];
  }

  /// Nothing that a residence held outlives it.
  void begin_lifetimes(int time) {
    for (int i : ends_[time]) contents_[i].clear();
    for (int i : starts_[time]) contents_[i].clear();
  }

  Status run_segment(int segment) {
    const auto size = static_cast<int>(program_.segments[segment].instructions.size());
    const int64_t iterations = iterations_to_run(program_, segment);
    const int start = timeline_.start_of(segment);
    for (iteration_ = 0; iteration_ < iterations; ++iteration_)
      for (int i = 0; i < size; ++i) {
        // What covers the segment goes on living from one iteration to the next.
        if (start + i > 0 && (i > 0 || iteration_ == 0)) begin_lifetimes(start + i);
        place_ = {segment, i};
        if (runs_in(at(program_, place_).when, iteration_, iterations)) PLIMSOLL_RETURN_IF_ERROR(execute());
      }
    if (size > 0) settle(iterations - 1);
    return {};
  }

  /// After a loop, a name means what the last iteration made; with several slots, each keeps its iteration's.
  void settle(int64_t last) {
    const auto is_stale = [last](const Content& content) {
      return content.iteration >= 0 && content.iteration != last;
    };
    const auto settle_one = [](Content& content) {
      if (content.iteration >= 0) content.iteration = content.is_total ? kAllIterations : kLastOfEarlierLoop;
    };
    for (int i = 0; i < std::ssize(contents_); ++i) {
      const Residence& residence = program_.residences[i];
      if (contents_[i].empty() || residence.slots > 1) continue;
      contents_[i][0].erase_if(is_stale);
      contents_[i][0].for_each(settle_one);
    }
    for (Contents& newest : newest_) newest.clear();
  }

  Status execute() {
    const Instruction& instruction = at(program_, place_);
    for (size_t i = 0; i < instruction.operands.size(); ++i) PLIMSOLL_RETURN_IF_ERROR(check_needed(i));
    // A result differs between iterations if a source does, or if it comes from outside.
    const Content result = results_of(instruction);
    for (const Operand& operand : instruction.operands) {
      if (operand.role == Role::kWorkspace)
        contents_of(operand).erase(operand.begin_bytes, operand.end_bytes);
      else if (writes(operand.role))
        make(operand, {operand.version, result.iteration, result.is_total});
    }
    return {};
  }

  /// What is known of all results of an instruction but their version.
  Content results_of(const Instruction& instruction) {
    Content out;
    if (instruction.kind == Kind::kFeed) out.iteration = iteration_;
    out.is_total = instruction.when == program::When::kLast || program_.segments[place_.segment].trips == 1;
    for (const Operand& operand : instruction.operands) {
      if (operand.role == Role::kAccumulate) out = {0, iteration_, true};
      if (operand.role != Role::kRead && operand.role != Role::kUpdate) continue;
      const bool passes_on = instruction.kind != Kind::kCompute || operand.role == Role::kUpdate;
      contents_of(operand).visit(operand.begin_bytes, operand.end_bytes, [&](int64_t, int64_t, const Content* content) {
        if (content == nullptr) return;
        if (content->iteration != kAllIterations) out.iteration = iteration_;
        out.is_total = out.is_total || (passes_on && content->is_total);
      });
    }
    return out;
  }

  void make(const Operand& operand, Content content) {
    contents_of(operand).assign(operand.begin_bytes, operand.end_bytes, content);
    const Kind kind = at(program_, place_).kind;
    if (kind == Kind::kCopy || kind == Kind::kRead || kind == Kind::kWrite) return;
    newest_[program_.residences[operand.residence].buffer].assign(operand.begin_bytes, operand.end_bytes, content);
  }

  Status check_needed(size_t i) {
    const Operand& operand = at(program_, place_).operands[i];
    switch (operand.role) {
      case Role::kRead:
        return expect(i, "reads", operand.version, [this](const Content& content) {
          return content.iteration == kAllIterations || content.iteration == iteration_ ||
                 (content.iteration == kLastOfEarlierLoop && program_.segments[place_.segment].trips == 1);
        });
      case Role::kUpdate: return expect(i, "updates", operand.version - 1, [](const Content&) { return true; });
      case Role::kAccumulate: return iteration_ == 0 ? Status() : check_accumulated(i);
      default: return {};
    }
  }

  template <class IsRight>
  Status expect(size_t i, const char* verb, int version, IsRight is_right) {
    const Operand& operand = at(program_, place_).operands[i];
    std::optional<Error> error;
    contents_of(operand).visit(operand.begin_bytes, operand.end_bytes,
                               [&](int64_t begin, int64_t end, const Content* content) {
                                 if (error || (content != nullptr && content->version == version && is_right(*content)))
                                   return;
                                 error = wrong_content(i, verb, version, begin, end, content);
                               });
    return error ? Status(*error) : Status();
  }

  /// What the previous iteration left, in the last version that it made anywhere.
  Status check_accumulated(size_t i) {
    const Operand& operand = at(program_, place_).operands[i];
    const Contents& newest = newest_[program_.residences[operand.residence].buffer];
    std::optional<Error> error;
    contents_of(operand).visit(
        operand.begin_bytes, operand.end_bytes, [&](int64_t begin, int64_t end, const Content* content) {
          newest.visit(begin, end, [&](int64_t from, int64_t to, const Content* wanted) {
            const bool is_newest = content != nullptr && wanted != nullptr && content->version == wanted->version &&
                                   content->iteration == wanted->iteration;
            const bool is_right = is_newest && (content->iteration == iteration_ - 1 ||
                                                (content->iteration == kAllIterations && iteration_ == 1));
            // An addition that some iterations leave out shows as another version left.
            const bool is_steady = wanted == nullptr || left_version_of(i, wanted->version) == wanted->version;
            if (!error && !(is_right && is_steady))
              error = wrong_content(i, "adds into", wanted == nullptr ? operand.version : wanted->version, from, to,
                                    content);
          });
        });
    return error ? Status(*error) : Status();
  }

  /// The version that this operand was first added into, in this segment.
  int left_version_of(size_t i, int version) {
    return left_versions_.try_emplace({place_.segment, place_.index, static_cast<int>(i)}, version).first->second;
  }

  Error wrong_content(size_t i, const char* verb, int version, int64_t begin, int64_t end, const Content* content) {
    return invalid_argument(describe(program_, place_, i) + " " + verb + " version " + std::to_string(version) +
                            " of " + describe_range(begin, end) + " in iteration " + std::to_string(iteration_) +
                            ", where " + describe_found(content));
  }

  static std::string describe_found(const Content* content) {
    if (content == nullptr) return "there is nothing";
    std::string found = "there is version " + std::to_string(content->version);
    if (content->iteration == kLastOfEarlierLoop) found += " of the last iteration of an earlier loop";
    if (content->iteration >= 0) found += " made in iteration " + std::to_string(content->iteration);
    return found;
  }

  Status check_exit() {
    iteration_ = 0;
    for (const program::StateEntry& entry : program_.exit_state) {
      const Residence& residence = program_.residences[entry.residence];
      std::optional<Error> error;
      slots_of(entry.residence)[0].visit(
          residence.begin_bytes, residence.end_bytes, [&](int64_t begin, int64_t end, const Content* content) {
            if (error || (content != nullptr && content->version == entry.version)) return;
            error = invalid_argument("[check] exit state promises version " + std::to_string(entry.version) + " of '" +
                                     program_.buffers[residence.buffer].name + "' in residence " +
                                     std::to_string(entry.residence) + "; " + describe_range(begin, end) + " hold " +
                                     (content == nullptr ? "nothing" : "version " + std::to_string(content->version)));
          });
      if (error) return *error;
    }
    return {};
  }

  /// What only the last of several iterations made for itself is no outcome of the program.
  Status check_outputs() {
    for (const program::Output& output : program_.outputs) {
      std::optional<Error> error;
      slots_of(output.residence)[0].visit(
          output.begin_bytes, output.end_bytes, [&](int64_t begin, int64_t end, const Content* content) {
            if (error ||
                (content != nullptr && content->version == output.version && content->iteration == kAllIterations))
              return;
            error =
                invalid_argument("[check] output '" + output.name + "' is version " + std::to_string(output.version) +
                                 " of '" + program_.buffers[program_.residences[output.residence].buffer].name + "'; " +
                                 describe_range(begin, end) + " at the end: " + describe_found(content));
          });
      if (error) return *error;
    }
    return {};
  }

  const Program& program_;
  Timeline timeline_;
  std::vector<std::vector<int>> starts_;  ///< residences by the time at which they start to live
  std::vector<std::vector<int>> ends_;
  std::vector<std::vector<Contents>> contents_;      ///< by residence and slot; no slots: holds nothing
  std::vector<Contents> newest_;                     ///< by buffer: what was made last in this segment, wherever it is
  std::map<std::array<int, 3>, int> left_versions_;  ///< by segment, instruction and operand that accumulates
  int64_t iteration_ = 0;
  Place place_;
};

}  // namespace

Status check_content(const Program& program) { return ContentRun(program).run(); }

}  // namespace plimsoll::plan::check
