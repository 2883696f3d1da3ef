#pragma once

#include <cstdint>
#include <string>

#include "core/result.h"

namespace plimsoll::optim {

/// How the learning rate goes over the updates of a run.
struct ScheduleConfig {
  std::string name = "constant";  ///< constant, linear, cosine, inverse_sqrt
  double lr = 1e-3;               ///< the greatest learning rate
  int64_t warmup = 0;             ///< updates of linear rise before `lr` is reached
  int64_t total = 0;              ///< updates after which linear and cosine are at their least; unused by the others
  double min_ratio = 0;           ///< the least learning rate after warm-up, as a share of `lr`
};

/// A learning rate for each update, a pure function of its number, so that a resumed run needs no state.
///
/// With s the share (update - warmup) / (total - warmup) of the decay that has passed, held in [0, 1]:
///   warm-up       lr · (update + 1) / (warmup + 1)
///   constant      lr
///   linear        lr · (1 - (1 - min_ratio) · s)
///   cosine        lr · (min_ratio + (1 - min_ratio) · (1 + cos(π · s)) / 2)
///   inverse_sqrt  lr · max(min_ratio, sqrt((warmup + 1) / (update + 1)))
/// Source: Loshchilov and Hutter, SGDR, 2017, equation 5 (cosine); Vaswani et al., Attention Is All You Need, 2017,
/// equation 3 (inverse_sqrt).
class Schedule {
 public:
  /// Errors: invalid_argument, for an unknown name or a setting out of range, naming it.
  static Result<Schedule> make(const ScheduleConfig& config);

  /// The learning rate of an update, counted from 0. Requires: update >= 0.
  double learning_rate(int64_t update) const;

  const ScheduleConfig& config() const { return config_; }

 private:
  enum class Kind : uint8_t { kConstant, kLinear, kCosine, kInverseSqrt };

  Schedule(const ScheduleConfig& config, Kind kind) : config_(config), kind_(kind) {}

  double share_of_decay(int64_t update) const;
  double factor(int64_t update) const;

  ScheduleConfig config_;
  Kind kind_ = Kind::kConstant;
};

}  // namespace plimsoll::optim
