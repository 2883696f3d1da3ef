#include "optim/schedule.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "core/attributes.h"
#include "core/check.h"
#include "core/suggest.h"

namespace plimsoll::optim {
namespace {

// In the order of Schedule::Kind.
const std::vector<std::string> kNames{"constant", "linear", "cosine", "inverse_sqrt"};

Error refusal(const std::string& name, const std::string& value, const std::string& expected) {
  return invalid_argument("[schedule] " + name + " is " + value + "; expected " + expected);
}

Status check_settings(const ScheduleConfig& c) {
  if (!(c.lr > 0 && std::isfinite(c.lr))) return refusal("lr", to_string(Attribute(c.lr)), "a number above 0");
  if (!(c.min_ratio >= 0 && c.min_ratio <= 1))
    return refusal("min_ratio", to_string(Attribute(c.min_ratio)), "0 <= min_ratio <= 1");
  if (c.warmup < 0) return refusal("warmup", std::to_string(c.warmup), "0 or more updates");
  if (c.total < 0) return refusal("total", std::to_string(c.total), "0 or more updates");
  if ((c.name == "linear" || c.name == "cosine") && c.total <= c.warmup)
    return refusal("total", std::to_string(c.total), "more updates than warmup, " + std::to_string(c.warmup));
  return {};
}

}  // namespace

Result<Schedule> Schedule::make(const ScheduleConfig& config) {
  const auto known = std::find(kNames.begin(), kNames.end(), config.name);
  if (known == kNames.end())
    return invalid_argument("[schedule] there is no schedule '" + config.name +
                            "'; known are constant, linear, cosine, inverse_sqrt" + suggest(config.name, kNames));
  PLIMSOLL_RETURN_IF_ERROR(check_settings(config));
  return Schedule(config, static_cast<Kind>(known - kNames.begin()));
}

double Schedule::share_of_decay(int64_t update) const {
  const auto passed = static_cast<double>(update - config_.warmup);
  return std::clamp(passed / static_cast<double>(config_.total - config_.warmup), 0.0, 1.0);
}

double Schedule::factor(int64_t update) const {
  const double warmup_end = static_cast<double>(config_.warmup) + 1;
  const double number = static_cast<double>(update) + 1;
  if (update < config_.warmup) return number / warmup_end;
  const double decaying = 1 - config_.min_ratio;
  switch (kind_) {
    case Kind::kConstant: return 1;
    case Kind::kLinear: return 1 - decaying * share_of_decay(update);
    case Kind::kCosine:
      return config_.min_ratio + decaying * (1 + std::cos(std::numbers::pi * share_of_decay(update))) / 2;
    case Kind::kInverseSqrt: return std::max(config_.min_ratio, std::sqrt(warmup_end / number));
  }
  return 1;
}

double Schedule::learning_rate(int64_t update) const {
  PLIMSOLL_CHECK(update >= 0, update);
  return config_.lr * factor(update);
}

}  // namespace plimsoll::optim
