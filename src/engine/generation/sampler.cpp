#include "engine/generation/sampler.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/philox.h"

namespace plimsoll::engine {

Status check_sampling(const SamplingOptions& options) {
  const auto refusal = [](const char* name, auto value, const char* allowed) {
    return invalid_argument(std::string(name) + " is " + std::to_string(value) + "; expected " + allowed);
  };
  if (!(options.temperature >= 0) || std::isinf(options.temperature))
    return refusal("temperature", options.temperature, "a number from 0 on");
  if (options.top_k < 0) return refusal("top_k", options.top_k, "0 (all) or more");
  if (!(options.top_p > 0) || options.top_p > 1) return refusal("top_p", options.top_p, "a number in (0, 1]");
  return {};
}

Sampler::Sampler(SamplingOptions options, int64_t classes)
    : options_(options), order_(static_cast<size_t>(classes)), weights_(static_cast<size_t>(classes)) {}

int32_t Sampler::draw(std::span<const float> logits, int64_t position) {
  PLIMSOLL_CHECK(logits.size() == order_.size(), logits.size());
  std::iota(order_.begin(), order_.end(), 0);
  const auto logit = [&](int32_t i) { return logits[static_cast<size_t>(i)]; };
  // Ties go to the smaller id, so that the order is one.
  const auto before = [&](int32_t a, int32_t b) { return logit(a) != logit(b) ? logit(a) > logit(b) : a < b; };
  if (options_.temperature == 0) return *std::min_element(order_.begin(), order_.end(), before);
  const size_t most = order_.size();
  size_t kept = options_.top_k == 0 ? most : std::min(most, static_cast<size_t>(options_.top_k));
  std::partial_sort(order_.begin(), order_.begin() + static_cast<std::ptrdiff_t>(kept), order_.end(), before);
  double total = 0;
  for (size_t i = 0; i < kept; ++i) {
    weights_[i] = std::exp((static_cast<double>(logit(order_[i])) - static_cast<double>(logit(order_[0]))) /
                           options_.temperature);
    total += weights_[i];
  }
  double sum = 0;
  size_t count = 0;
  while (count < kept && sum < options_.top_p * total) sum += weights_[count++];
  const double unit = static_cast<double>(to_unit_float(Philox(options_.seed)(static_cast<uint64_t>(position), 0)[0]));
  double rest = unit * sum;
  for (size_t i = 0; i < count; ++i) {
    if (rest < weights_[i]) return order_[i];
    rest -= weights_[i];
  }
  return order_[count - 1];
}

}  // namespace plimsoll::engine
