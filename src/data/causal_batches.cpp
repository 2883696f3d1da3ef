#include <algorithm>
#include <string>

#include "core/check.h"
#include "core/shape.h"
#include "data/batches.h"
#include "data/permutation.h"

namespace plimsoll::data {
namespace {

// Reads positions [first, first + seq] as tokens and, one further, targets.
Status try_fill_window(TokenSource& source, int64_t first, std::span<int32_t> tokens, std::span<int32_t> targets) {
  PLIMSOLL_RETURN_IF_ERROR(source.try_read(first, tokens));
  std::copy(tokens.begin() + 1, tokens.end(), targets.begin());
  return source.try_read(first + static_cast<int64_t>(tokens.size()), targets.last(1));
}

class WindowBatches : public BatchSource {
 public:
  WindowBatches(std::shared_ptr<TokenSource> tokens, int64_t seq)
      : tokens_(std::move(tokens)), seq_(seq), fields_{{"tokens", seq}, {"targets", seq}} {}

  const std::vector<BatchField>& fields() const override { return fields_; }

  Status try_fill(int64_t first, int64_t count, std::span<const std::span<int32_t>> arrays) override {
    PLIMSOLL_CHECK(arrays.size() == 2, arrays.size());
    for (const auto& array : arrays) PLIMSOLL_CHECK(std::ssize(array) == count * seq_, array.size());
    for (int64_t i = 0; i < count; ++i) {
      const auto start = static_cast<size_t>(i * seq_);
      const auto width = static_cast<size_t>(seq_);
      PLIMSOLL_RETURN_IF_ERROR(
          try_fill_sample(first + i, arrays[0].subspan(start, width), arrays[1].subspan(start, width)));
    }
    return {};
  }

 protected:
  virtual Status try_fill_sample(int64_t sample, std::span<int32_t> tokens, std::span<int32_t> targets) = 0;

  std::shared_ptr<TokenSource> tokens_;
  int64_t seq_;

 private:
  std::vector<BatchField> fields_;
};

class CausalBatches : public WindowBatches {
 public:
  CausalBatches(std::shared_ptr<TokenSource> tokens, const CausalOptions& options)
      : WindowBatches(std::move(tokens), options.seq), seed_(options.seed) {}

  int64_t samples() const override { return (tokens_->size() - 1) / seq_; }
  int64_t count_valid(int64_t, int64_t count) const override { return count * seq_; }

 private:
  Status try_fill_sample(int64_t sample, std::span<int32_t> tokens, std::span<int32_t> targets) override {
    const Cursor cursor = to_cursor(sample, samples());
    const Permutation order(samples(), seed_, static_cast<uint64_t>(cursor.epoch));
    return try_fill_window(*tokens_, order(cursor.position) * seq_, tokens, targets);
  }

  uint64_t seed_;
};

class EvaluationBatches : public WindowBatches {
 public:
  using WindowBatches::WindowBatches;

  int64_t samples() const override { return (targets() + seq_ - 1) / seq_; }

  int64_t count_valid(int64_t first, int64_t count) const override {
    return std::min(targets(), (first + count) * seq_) - std::min(targets(), first * seq_);
  }

 private:
  int64_t targets() const { return tokens_->size() - 1; }

  Status try_fill_sample(int64_t sample, std::span<int32_t> tokens, std::span<int32_t> targets) override {
    const int64_t first = sample * seq_;
    const auto held = static_cast<size_t>(std::clamp<int64_t>(this->targets() - first, 0, seq_));
    std::ranges::fill(tokens.subspan(held), 0);
    std::ranges::fill(targets.subspan(held), kIgnoreIndex);
    if (held == 0) return {};
    return try_fill_window(*tokens_, first, tokens.first(held), targets.first(held));
  }
};

}  // namespace

Result<std::unique_ptr<BatchSource>> try_make_causal_batches(std::shared_ptr<TokenSource> tokens,
                                                             const CausalOptions& options) {
  const auto needed =
      options.batch > 0 && options.seq > 0 ? checked_multiply(options.batch, options.seq) : std::nullopt;
  if (!needed) {
    return invalid_argument("[batches] batch " + std::to_string(options.batch) + " and seq " +
                            std::to_string(options.seq) + " must be 1 or more, and no larger than the data");
  }
  if (*needed >= tokens->size()) {
    return invalid_argument("[batches] batch " + std::to_string(options.batch) + " x seq " +
                            std::to_string(options.seq) + " needs more than " + std::to_string(*needed) +
                            " tokens, the training data has " + std::to_string(tokens->size()) +
                            "; lower batch or seq, or give more text");
  }
  return std::unique_ptr<BatchSource>(std::make_unique<CausalBatches>(std::move(tokens), options));
}

Result<std::unique_ptr<BatchSource>> try_make_evaluation_batches(std::shared_ptr<TokenSource> tokens, int64_t seq) {
  if (seq <= 0) return invalid_argument("[batches] seq " + std::to_string(seq) + ": expected seq >= 1");
  if (tokens->size() < 2) {
    return invalid_argument("[batches] the validation data has " + std::to_string(tokens->size()) +
                            " tokens; it needs 2 or more");
  }
  return std::unique_ptr<BatchSource>(std::make_unique<EvaluationBatches>(std::move(tokens), seq));
}

}  // namespace plimsoll::data
