#include "apps/run_log.h"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <nlohmann/json.hpp>

#include "core/printable.h"
#include "formats/file_writer.h"

namespace plimsoll::apps {

namespace {

/// Whether what a line tells was done when the run was at `position`.
bool is_before(const RunLog::Position& position, const nlohmann::json& object) {
  if (!object.is_object()) return false;
  const auto step = object.find("step"), samples = object.find("samples");
  const auto is_within = [&](const auto& field, int64_t most) {
    return field == object.end() || (field->is_number() && field->template get<double>() <= static_cast<double>(most));
  };
  return samples == object.end() ? is_within(step, position.step) : is_within(samples, position.samples);
}

/// Keeps the lines of a metrics file that are of nothing after `position`.
Status rewind(const std::string& path, const RunLog::Position& position) {
  std::ifstream lines(path);
  if (!lines && errno == ENOENT) return {};
  const auto fault = [&] { return io_error("cannot read " + named(path) + ": " + std::strerror(errno)); };
  if (!lines) return fault();
  PLIMSOLL_ASSIGN(auto kept, formats::FileWriter::try_create(path));
  for (std::string line; std::getline(lines, line);) {
    const auto object = nlohmann::json::parse(line, nullptr, false);
    if (is_before(position, object)) PLIMSOLL_RETURN_IF_ERROR(kept.try_append(line + "\n"));
  }
  if (lines.bad()) return fault();
  return kept.try_finish();
}

}  // namespace

Status RunLog::open(const std::string& path, const Position& position) {
  PLIMSOLL_RETURN_IF_ERROR(rewind(path, position));
  path_ = path;
  metrics_.open(path, std::ios::app);
  return metrics_ ? Status() : io_error("cannot write " + named(path) + ": " + std::strerror(errno));
}

void RunLog::say(const std::string& line) { say_lines(printable(line)); }

void RunLog::say_lines(const std::string& lines) {
  if (json_) return;
  end_counting_line();
  std::printf("%s\n", printable_lines(lines).c_str());
  std::fflush(stdout);
}

void RunLog::show_preparation(const std::string& what, double share) {
  if (json_) return;
  if (isatty(STDOUT_FILENO) != 0) {
    if (what != preparing_) end_counting_line();
    std::printf("\r%s %3.0f %%", what.c_str(), 100 * share);
    std::fflush(stdout);
    is_counting_ = true;
  } else if (what != preparing_) {
    say(what);
  }
  preparing_ = what;
}

Status RunLog::record(const Fields& fields) {
  metrics_ << to_line(fields) << "\n" << std::flush;
  if (!metrics_) return io_error("cannot write " + named(path_) + ": " + std::strerror(errno));
  if (json_) print_json(fields);
  return {};
}

void RunLog::end_counting_line() {
  if (is_counting_) std::printf("\n");
  is_counting_ = false;
}

}  // namespace plimsoll::apps
