#include "report/run_metrics.h"

#include <istream>
#include <nlohmann/json.hpp>

namespace plimsoll::report {
namespace {

using nlohmann::json;

std::optional<double> number(const json& event, const char* key) {
  const auto found = event.find(key);
  if (found == event.end() || !found->is_number()) return std::nullopt;
  return found->get<double>();
}

std::string text(const json& event, const char* key) {
  const auto found = event.find(key);
  return found != event.end() && found->is_string() ? found->get<std::string>() : "";
}

int64_t bytes(const json& event, const char* key) { return static_cast<int64_t>(number(event, key).value_or(0)); }

void add(Series& series, const json& event, const char* key) {
  const auto step = number(event, "step"), value = number(event, key);
  if (step && value) series.add(*step, *value);
}

/// Whether the event is of an update that was not applied and was not told before, in another session.
/// `samples`: drawn up to the last such update.
bool is_further_skip(const json& event, double& samples) {
  const auto skipped = event.find("skipped");
  if (skipped == event.end() || *skipped != true) return false;
  const double now = number(event, "samples").value_or(samples + 1);
  if (now <= samples) return false;
  samples = now;
  return true;
}

void read_step(RunMetrics& metrics, const json& event) {
  add(metrics.loss, event, "loss");
  add(metrics.gradient_norm, event, "grad_norm");
  add(metrics.learning_rate, event, "lr");
  add(metrics.tokens_per_s, event, "tokens_per_s");
  const auto memory = event.find("memory");
  if (memory == event.end() || !memory->is_object()) return;
  double sum = 0;
  for (const json& size : *memory) sum += size.is_number() ? size.get<double>() : 0;
  if (const auto step = number(event, "step")) metrics.memory_bytes.add(*step, sum);
}

void read_end(RunMetrics& metrics, const json& event) {
  RunMetrics::End& end = metrics.end ? *metrics.end : metrics.end.emplace(RunMetrics::End());
  end.train_seconds += number(event, "train_seconds").value_or(0);
  const int64_t peak = bytes(event, "vmhwm_bytes");
  if (peak < end.peak_bytes) return;
  end.peak_bytes = peak;
  end.planned_bytes = bytes(event, "needed_bytes");
}

void read_event(RunMetrics& metrics, const json& event) {
  const std::string kind = text(event, "event");
  if (kind == "step") {
    read_step(metrics, event);
  } else if (kind == "evaluation") {
    add(metrics.validation_loss, event, "loss");
    add(metrics.validation_bits_per_byte, event, "bits_per_byte");
  } else if (kind == "baseline") {
    metrics.baseline = {text(event, "model"), number(event, "bits_per_byte").value_or(0)};
  } else if (kind == "sample") {
    metrics.sample = {text(event, "prompt"), text(event, "text"), number(event, "known_word_share")};
  } else if (kind == "end") {
    read_end(metrics, event);
  }
}

}  // namespace

void Series::add(double step, double value) {
  if (!points_.empty() && points_.back().first == step) {
    points_.back().second = value;
    return;
  }
  if (!keeps_last_) points_.pop_back();
  keeps_last_ = given_++ % stride_ == 0;
  points_.emplace_back(step, value);
  if (keeps_last_ && points_.size() == kMostPoints) thin();
}

/// Drops every second point. The last one's index is odd, so it stays beside the even part only until the next comes.
void Series::thin() {
  static_assert(kMostPoints % 2 == 0);
  const auto last = points_.back();
  for (size_t i = 0; i < kMostPoints / 2; ++i) points_[i] = points_[2 * i];
  points_.resize(kMostPoints / 2);
  points_.push_back(last);
  keeps_last_ = false;
  stride_ *= 2;
}

RunMetrics read_run_metrics(std::istream& lines) {
  RunMetrics metrics;
  double skipped_samples = 0;
  for (std::string line; std::getline(lines, line);) {
    const json event = json::parse(line, nullptr, false);
    if (!event.is_object()) continue;
    if (is_further_skip(event, skipped_samples)) ++metrics.skipped;
    read_event(metrics, event);
  }
  return metrics;
}

}  // namespace plimsoll::report
