// plimsoll bench offsets: the offset planner on a list of buffers, judged by brute force.
#include <memory>

#include "apps/bench.h"
#include "apps/shared_options.h"
#include "core/stopwatch.h"
#include "formats/offsets_csv.h"
#include "plan/offsets.h"
#include "plan/offsets_check.h"

namespace plimsoll::apps {
namespace {

struct Options {
  std::string path;
  int64_t capacity = 0;
  double seconds = 0;
  bool json = false;
};

Status run(const Options& o) {
  PLIMSOLL_ASSIGN(const auto rows, formats::try_read_offsets_csv(o.path));
  plan::OffsetProblem problem;
  for (const auto& row : rows) problem.buffers.push_back({row.lower, row.upper, row.size});
  plan::OffsetOptions options;
  if (o.capacity > 0) options.capacity = o.capacity;
  if (o.seconds > 0) options.seconds = o.seconds;
  const Stopwatch watch;
  PLIMSOLL_ASSIGN(const plan::OffsetSolution solution, plan::try_plan_offsets(problem, options));
  const double seconds = watch.seconds();
  const auto judged = plan::check_offsets(problem, solution.offsets, solution.height);
  print_rows(o.json, {{"event", "bench_offsets"},
                      {"file", o.path},
                      {"buffers", problem.buffers.size()},
                      {"height", solution.height},
                      {"lower_bound", solution.lower_bound},
                      {"overlaps", judged.overlaps},
                      {"proven_least", solution.proven_least},
                      {"seconds", seconds}});
  return {};
}

}  // namespace

void add_bench_offsets(Command& bench) {
  auto options = std::make_shared<Options>();
  Command command = bench.add_command("offsets", "Give every buffer of a list an offset");
  command.add_option("file", options->path, "CSV with the columns id,lower,upper,size; lifetimes half-open").required();
  command.add_option("--capacity", options->capacity, "Bytes: any packing within it will do").check(whole_number(1));
  command.add_option("--seconds", options->seconds, "Cut the search after this time").check(positive_number());
  add_json_option(command, options->json);
  command.footer("Example: plimsoll bench offsets tests/data/offsets/A.1048576.csv --capacity 1048576");
  command.action([options] { return run(*options); });
}

}  // namespace plimsoll::apps
