#pragma once

#include <fstream>
#include <string>

#include "apps/fields.h"
#include "core/result.h"

namespace plimsoll::apps {

/// What a run tells: lines for people, or JSON objects where asked for, and always the objects in metrics.jsonl.
class RunLog {
 public:
  explicit RunLog(bool json) : json_(json) {}

  /// How far a run has come.
  struct Position {
    int64_t step = 0;     ///< updates applied
    int64_t samples = 0;  ///< drawn, those of skipped updates too
  };

  /// Objects are from now on added to that file. What it says of after `position`, by an object's "samples" or else its
  /// "step", is dropped, since a run that goes on from there does it again; so are lines that are no object, or one
  /// where these are no numbers. Errors: io.
  Status open(const std::string& path, const Position& position);

  /// A line for people, control characters escaped; nothing under --json.
  void say(const std::string& line);

  /// The same for text that has lines of its own.
  void say_lines(const std::string& lines);

  /// A share of one piece of work done before the first update: on a terminal one line that counts, elsewhere a line
  /// for each piece of work.
  void show_preparation(const std::string& what, double share);

  /// Adds an object to the metrics and prints it under --json. Text that is not UTF-8 has its faulty bytes replaced.
  /// Errors: io, such as a full disk.
  Status record(const Fields& fields);

 private:
  void end_counting_line();

  bool json_;
  std::string path_;
  std::ofstream metrics_;
  std::string preparing_;
  bool is_counting_ = false;
};

}  // namespace plimsoll::apps
