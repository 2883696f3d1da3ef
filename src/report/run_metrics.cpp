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

void read_step(RunMetrics& metrics, const json& event) {
  const auto skipped = event.find("skipped");
  if (skipped != event.end() && *skipped == true) ++metrics.skipped;
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
    metrics.end = {number(event, "train_seconds").value_or(0), bytes(event, "vmhwm_bytes"),
                   bytes(event, "needed_bytes")};
  }
}

}  // namespace

void Series::add(double step, double value) {
  if (given_++ % stride_ != 0) return;
  points_.emplace_back(step, value);
  if (points_.size() < kMostPoints) return;
  for (size_t i = 0; i < kMostPoints / 2; ++i) points_[i] = points_[2 * i];
  points_.resize(kMostPoints / 2);
  stride_ *= 2;
}

RunMetrics read_run_metrics(std::istream& lines) {
  RunMetrics metrics;
  for (std::string line; std::getline(lines, line);) {
    const json event = json::parse(line, nullptr, false);
    if (event.is_object()) read_event(metrics, event);
  }
  return metrics;
}

}  // namespace plimsoll::report
