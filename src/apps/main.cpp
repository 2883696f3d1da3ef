// plimsoll: trains neural networks inside the memory you have.
#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>
#include <new>
#include <string_view>

#include "apps/commands.h"
#include "apps/messages.h"

namespace plimsoll::apps {

namespace {

int exit_code(ErrorCode code) {
  switch (code) {
    case ErrorCode::kInvalidArgument: return 2;
    case ErrorCode::kInfeasible: return 3;
    case ErrorCode::kIo: return 4;
    case ErrorCode::kCorrupt: return 5;
    case ErrorCode::kUnsupported: return 6;
    case ErrorCode::kOutOfMemory: return 7;
    case ErrorCode::kCancelled: return 130;
  }
  return 1;
}

/// Asked for before the options are parsed, as the parser's errors are told like all others.
bool wants_json(int argc, char** argv) {
  return std::any_of(argv + 1, argv + argc,
                     [](std::string_view word) { return word == "--json" || word.starts_with("--json="); });
}

int report_error(const Error& error, bool json) {
  print_error(error, json);
  return exit_code(error.code);
}

int run(int argc, char** argv) {
  // A reader that goes away, such as `| head`, must not end a run: writing fails instead, and is told at the end.
  std::signal(SIGPIPE, SIG_IGN);
  CommandLine line("Trains neural networks inside the memory you have: the step is planned and proven before it runs.",
                   PLIMSOLL_VERSION,
                   "Exit codes: 0 done, 1 our fault, 2 bad input, 3 does not fit the budget, 4 file or disk, 5 damaged "
                   "file,\n6 not supported, 7 the system gave no memory, 130 stopped by a signal.");
  Command root = line.root();
  root.require_command();
  add_train(root);
  add_plan(root);
  add_models(root);
  add_machine(root);
  add_generate(root);
  add_bench(root);
  const Result<Action> action = line.parse(argc, argv);
  if (!action.ok()) return report_error(action.error(), wants_json(argc, argv));
  Status status = (*action)();
  if (status.ok() && (std::fflush(stdout) != 0 || std::ferror(stdout) != 0))
    status = io_error("standard output cannot be written: " + std::string(std::strerror(errno)));
  return status.ok() ? 0 : report_error(status.error(), wants_json(argc, argv));
}

int run_or_tell(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::bad_alloc&) {
    return report_error({ErrorCode::kOutOfMemory, "the system gave no memory", {}}, wants_json(argc, argv));
  } catch (const std::exception& fault) {
    print_exception(fault, wants_json(argc, argv));
    return 1;
  }
}

}  // namespace
}  // namespace plimsoll::apps

int main(int argc, char** argv) { return plimsoll::apps::run_or_tell(argc, argv); }
