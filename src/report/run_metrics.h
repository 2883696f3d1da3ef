#pragma once

#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace plimsoll::report {

/// A value by step. Of very many points an even part is kept, from the first on, and always the last.
///
/// Memory: 16 bytes a point, kMostPoints at the most.
class Series {
 public:
  static constexpr size_t kMostPoints = 4096;

  /// A further value of the last point's step takes its place: who says a thing twice means the last.
  void add(double step, double value);
  const std::vector<std::pair<double, double>>& points() const { return points_; }
  bool empty() const { return points_.empty(); }

 private:
  void thin();

  std::vector<std::pair<double, double>> points_;
  bool keeps_last_ = true;  ///< the last point is of the even part, so that it stays when the next comes
  int64_t given_ = 0;
  int64_t stride_ = 1;  ///< one of so many is kept
};

/// What a run's metrics.jsonl holds of interest for its page, of all its sessions: the first, and one for each resume.
/// Of what a run that was continued says twice, the last.
struct RunMetrics {
  Series loss;  ///< nats a token, by update
  Series gradient_norm;
  Series learning_rate;
  Series tokens_per_s;
  Series memory_bytes;  ///< of the process, by the ledger
  Series validation_loss;
  Series validation_bits_per_byte;
  int64_t skipped = 0;  ///< updates that were not applied

  /// What a model that only counts reaches on the validation text.
  struct Baseline {
    std::string model;
    double bits_per_byte = 0;
  };
  std::optional<Baseline> baseline{};

  struct Sample {
    std::string prompt;
    std::string text;
    std::optional<double> known_word_share{};
  };
  std::optional<Sample> sample{};

  struct End {
    double train_seconds = 0;   ///< of all sessions
    int64_t peak_bytes = 0;     ///< resident, of the session's process that had the most
    int64_t planned_bytes = 0;  ///< what that session's plan said that it needs
  };
  std::optional<End> end{};
};

/// Lines that are no event are passed over. Cost: one pass.
RunMetrics read_run_metrics(std::istream& lines);

}  // namespace plimsoll::report
