#include <algorithm>
#include <string>

#include "core/check.h"
#include "core/hash.h"
#include "core/philox.h"
#include "core/shape.h"
#include "data/batches.h"
#include "data/permutation.h"

namespace plimsoll::data {
namespace {

constexpr int64_t kSpecials = 3;  // [CLS] A [SEP] B [SEP]
constexpr int64_t kLeastSeq = kSpecials + 2;
constexpr float kMaskedShare = 0.8f;  // of the chosen tokens
constexpr float kRandomShare = 0.1f;

// A word as an index in [0, count), without the bias to low numbers that a remainder has for large counts.
int64_t to_index(uint32_t word, int64_t count) {
  return static_cast<int64_t>(uint64_t{word} * static_cast<uint64_t>(count) >> 32);
}

class MaskedBatches : public BatchSource {
 public:
  MaskedBatches(std::shared_ptr<TokenSource> tokens, const MaskedOptions& options)
      : tokens_(std::move(tokens)),
        options_(options),
        fields_{{"tokens", options.seq}, {"segments", options.seq}, {"targets", options.seq}, {"next_sentence", 1}},
        mask_draw_(options.seed ^ stable_hash("mask")),
        pair_draw_(options.seed ^ stable_hash("next sentence")) {}

  const std::vector<BatchField>& fields() const override { return fields_; }
  int64_t samples() const override { return tokens_->size() / content(); }

  int64_t count_valid(int64_t first, int64_t count) const override {
    int64_t valid = 0;
    for (int64_t sample = first; sample < first + count && !is_behind_end(sample); ++sample) {
      for (int64_t position = 0; position < options_.seq; ++position) {
        valid += !is_special(position) && is_chosen(mask_draw_(position, sample));
      }
    }
    return valid;
  }

  Status try_fill(int64_t first, int64_t count, std::span<const std::span<int32_t>> arrays) override {
    PLIMSOLL_CHECK(arrays.size() == fields_.size(), arrays.size());
    for (size_t i = 0; i < arrays.size(); ++i) {
      PLIMSOLL_CHECK(std::ssize(arrays[i]) == count * fields_[i].width, fields_[i].name, " ", arrays[i].size());
    }
    for (int64_t i = 0; i < count; ++i) {
      const auto row = [&](size_t field) {
        const auto width = static_cast<size_t>(fields_[field].width);
        return arrays[field].subspan(static_cast<size_t>(i) * width, width);
      };
      PLIMSOLL_RETURN_IF_ERROR(try_fill_sample(first + i, row(0), row(1), row(2), row(3)[0]));
    }
    return {};
  }

 private:
  int64_t content() const { return options_.seq - kSpecials; }
  int64_t first_length() const { return (content() + 1) / 2; }
  int64_t first_sep() const { return 1 + first_length(); }
  bool is_special(int64_t position) const {
    return position == 0 || position == first_sep() || position == options_.seq - 1;
  }
  bool is_behind_end(int64_t sample) const { return options_.is_evaluation && sample >= samples(); }
  bool is_chosen(const Philox::Block& words) const {
    return to_unit_float(words[0]) < static_cast<float>(options_.mask_share);
  }

  Status try_fill_sample(int64_t sample, std::span<int32_t> tokens, std::span<int32_t> segments,
                         std::span<int32_t> targets, int32_t& next_sentence) {
    std::fill(targets.begin(), targets.end(), kIgnoreIndex);
    std::fill(segments.begin(), segments.begin() + first_sep() + 1, 0);
    std::fill(segments.begin() + first_sep() + 1, segments.end(), 1);
    if (is_behind_end(sample)) {
      std::fill(tokens.begin(), tokens.end(), 0);
      next_sentence = kIgnoreIndex;
      return {};
    }
    const int64_t window = window_of(sample);
    const int64_t second = second_window_of(sample, window);
    next_sentence = second == window ? 0 : 1;
    PLIMSOLL_RETURN_IF_ERROR(try_read_pair(window, second, tokens));
    mask(sample, tokens, targets);
    return {};
  }

  int64_t window_of(int64_t sample) const {
    if (options_.is_evaluation) return sample;
    const Cursor cursor = to_cursor(sample, samples());
    return Permutation(samples(), options_.seed, static_cast<uint64_t>(cursor.epoch))(cursor.position);
  }

  // The window that B comes from: `window` itself in half of the samples, else any other.
  int64_t second_window_of(int64_t sample, int64_t window) const {
    const auto words = pair_draw_(0, static_cast<uint64_t>(sample));
    if (samples() == 1 || words[0] % 2 == 0) return window;
    return (window + 1 + to_index(words[1], samples() - 1)) % samples();
  }

  Status try_read_pair(int64_t window, int64_t second, std::span<int32_t> tokens) {
    const auto length = static_cast<size_t>(first_length());
    const auto rest = static_cast<size_t>(content()) - length;
    PLIMSOLL_RETURN_IF_ERROR(tokens_->try_read(window * content(), tokens.subspan(1, length)));
    PLIMSOLL_RETURN_IF_ERROR(tokens_->try_read(second * content() + first_length(), tokens.subspan(length + 2, rest)));
    tokens[0] = options_.cls_id;
    tokens[length + 1] = options_.sep_id;
    tokens.back() = options_.sep_id;
    return {};
  }

  void mask(int64_t sample, std::span<int32_t> tokens, std::span<int32_t> targets) const {
    for (size_t i = 0; i < tokens.size(); ++i) {
      const auto words = mask_draw_(i, static_cast<uint64_t>(sample));
      if (is_special(static_cast<int64_t>(i)) || !is_chosen(words)) continue;
      targets[i] = tokens[i];
      const float kind = to_unit_float(words[1]);
      if (kind < kMaskedShare) {
        tokens[i] = options_.mask_id;
      } else if (kind < kMaskedShare + kRandomShare) {
        tokens[i] = static_cast<int32_t>(to_index(words[2], options_.vocab_size));
      }
    }
  }

  std::shared_ptr<TokenSource> tokens_;
  MaskedOptions options_;
  std::vector<BatchField> fields_;
  Philox mask_draw_;
  Philox pair_draw_;
};

Status check_options(const MaskedOptions& options) {
  if (options.batch <= 0 || options.seq < kLeastSeq) {
    return invalid_argument("[batches] batch " + std::to_string(options.batch) + " and seq " +
                            std::to_string(options.seq) +
                            ": expected batch >= 1 and seq >= 5 for [CLS] A [SEP] B [SEP]");
  }
  if (!(options.mask_share > 0 && options.mask_share <= 1)) {
    return invalid_argument("[batches] mask_share " + std::to_string(options.mask_share) +
                            " is out of range; expected 0 < share <= 1");
  }
  if (options.vocab_size <= 0 || std::min({options.cls_id, options.sep_id, options.mask_id}) < 0) {
    return invalid_argument("[batches] vocab_size must be 1 or more, and cls_id, sep_id and mask_id 0 or more");
  }
  return {};
}

}  // namespace

Result<std::unique_ptr<BatchSource>> try_make_masked_batches(std::shared_ptr<TokenSource> tokens,
                                                             const MaskedOptions& options) {
  PLIMSOLL_RETURN_IF_ERROR(check_options(options));
  const auto needed = checked_multiply(options.batch, options.seq - kSpecials);
  if (!needed || *needed > tokens->size()) {
    return invalid_argument("[batches] batch " + std::to_string(options.batch) + " x (seq " +
                            std::to_string(options.seq) + " - 3) is more than the " + std::to_string(tokens->size()) +
                            " tokens of the data; lower batch or seq, or give more text");
  }
  return std::unique_ptr<BatchSource>(std::make_unique<MaskedBatches>(std::move(tokens), options));
}

}  // namespace plimsoll::data
