#include "data/sentencepiece_training.h"

#include <sentencepiece_trainer.h>

#include <algorithm>
#include <map>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "core/hash.h"
#include "data/sampled_text.h"
#include "data/sentencepiece_text.h"

namespace plimsoll::data {
namespace {

// Bytes, the piece for what is unknown, and room for some characters.
constexpr int32_t kLeastVocabulary = 300;
constexpr int32_t kMostVocabulary = 1 << 20;
constexpr size_t kMostWordBytes = size_t{512} << 10;
constexpr size_t kMostIndents = 16;
constexpr size_t kLongestIndent = 64;
constexpr int64_t kIndentShare = 200;  // an indent that stands before less than one line in 200 gets no piece

// The different words seen, by their hashes, as long as they take up no more than kMostWordBytes.
class BoundedWords {
 public:
  // False, with nothing added, where the words of `line` would take more.
  bool try_add(std::string_view line) {
    added_.clear();
    size_t bytes = bytes_;
    for (size_t start = line.find_first_not_of(kBetween); start < line.size();) {
      const size_t end = std::min(line.find_first_of(kBetween, start), line.size());
      const uint64_t hash = stable_hash(line.substr(start, end - start));
      if (seen_.insert(hash).second) {
        added_.push_back(hash);
        bytes += end - start;
      }
      start = line.find_first_not_of(kBetween, end);
    }
    if (bytes > kMostWordBytes) {
      for (const uint64_t hash : added_) seen_.erase(hash);
      return false;
    }
    bytes_ = bytes;
    return true;
  }

 private:
  static constexpr std::string_view kBetween = " \n";

  std::unordered_set<uint64_t> seen_;
  std::vector<uint64_t> added_;
  size_t bytes_ = 0;
};

// Hands the trainer the same cuts that encode makes.
class LineIterator : public sentencepiece::SentenceIterator {
 public:
  LineIterator(const TextPart& text, int64_t most_bytes) : text_(text, most_bytes) { Next(); }

  bool done() const override { return is_done_; }
  const std::string& value() const override { return line_; }
  const std::optional<Error>& error() const { return error_; }

  sentencepiece::util::Status status() const override {
    if (!error_) return {};
    return {sentencepiece::util::StatusCode::kDataLoss, error_->message};
  }

  void Next() override {
    while (take_from_chunk()) {
      const size_t safe = safe_length(rest_of_line_);
      line_ = rest_of_line_.substr(0, safe);
      rest_of_line_.remove_prefix(std::max<size_t>(safe, 1));
      if (!line_.empty() && words_.try_add(line_)) return;
    }
    is_done_ = true;
  }

 private:
  // Makes rest_of_line_ hold something; false at the end.
  bool take_from_chunk() {
    if (!rest_of_line_.empty()) return true;
    if (chunk_.empty()) {
      auto next = text_.try_next();
      if (!next.ok()) error_ = next.error();
      if (!next.ok() || next->empty()) return false;
      chunk_ = *next;
    }
    rest_of_line_ = first_line(chunk_);
    chunk_.remove_prefix(rest_of_line_.size());
    return true;
  }

  SampledText text_;
  BoundedWords words_;
  std::string_view chunk_;
  std::string_view rest_of_line_;
  std::string line_;
  std::optional<Error> error_;
  bool is_done_ = false;
};

std::string with_space_marks(std::string_view text) {
  std::string marked;
  for (char c : text) marked += c == ' ' ? kSpaceMark : std::string_view(&c, 1);
  return marked;
}

// The blank lines and spaces at the start of `line`, without the space before its first word: that one belongs to the
// word, so that a word is the same piece behind an indent as behind another word.
std::string_view indent_of(std::string_view line) {
  const size_t spaces = std::min(line.find_first_not_of('\n'), line.size());
  const size_t word = std::min({line.find_first_not_of(' ', spaces), line.size(), kLongestIndent});
  return line.substr(0, word > spaces ? word - 1 : word);
}

// The frequent indents, and a plain line end.
Result<std::string> try_find_indents(const TextPart& text, int64_t most_bytes) {
  std::map<std::string, int64_t, std::less<>> counts;
  int64_t lines = 0;
  LineIterator line(text, most_bytes);
  for (; !line.done(); line.Next(), ++lines)
    if (line.value().starts_with('\n')) ++counts[std::string(indent_of(line.value()))];
  if (line.error()) return *line.error();
  std::vector<std::pair<int64_t, std::string>> frequent;
  for (const auto& [indent, count] : counts) {
    if (count * kIndentShare >= lines && indent != "\n") frequent.emplace_back(-count, with_space_marks(indent));
  }
  std::sort(frequent.begin(), frequent.end());
  frequent.resize(std::min(frequent.size(), kMostIndents));
  std::string list = "\n";
  for (const auto& [count, indent] : frequent) list += "," + indent;
  return list;
}

std::unordered_map<std::string, std::string> to_settings(const SentencepieceOptions& options, std::string indents) {
  return {{"vocab_size", std::to_string(options.vocab_size)},
          {"hard_vocab_limit", "false"},
          {"model_type", "bpe"},
          {"byte_fallback", "true"},
          {"character_coverage", "0.9999"},
          {"normalization_rule_name", "identity"},
          {"remove_extra_whitespaces", "false"},
          {"add_dummy_prefix", "false"},
          {"allow_whitespace_only_pieces", "true"},
          {"user_defined_symbols", std::move(indents)},
          {"bos_id", "-1"},
          {"eos_id", "-1"},
          {"num_threads", "2"},  // fixed: the order of the sums depends on it
          {"minloglevel", "2"}};
}

}  // namespace

// Measured with sentencepiece 0.1.97 and byte pairs, the peak above what the process had, beside what is booked here:
//   2 MiB of English, whose different words take 252 kB: 512 pieces 29.1 MiB of 87.3; 2,048: 32.1 of 88; 8,192: 35.3 of
//   91; 32,000: 38.8 of 102.6. Random words, all different, 2,048 pieces: 256 KiB of text 41.8 MiB of 53.5; 512
//   KiB: 72.4 of 82; 2 MiB, of which the bound keeps 512 KiB: 78.7 of 88. Without the bound those 2 MiB took 152.8 MiB.
int64_t sentencepiece_training_bytes(const SentencepieceOptions& options) {
  const int64_t words = std::min(static_cast<int64_t>(kMostWordBytes), options.text_bytes);
  return (int64_t{24} << 20) + 4 * options.text_bytes + 110 * words + 512 * int64_t{options.vocab_size};
}

Result<std::string> try_train_sentencepiece(const TextPart& text, const SentencepieceOptions& options) {
  if (options.vocab_size < kLeastVocabulary || options.vocab_size > kMostVocabulary) {
    return invalid_argument("[tokenizer] vocab_size " + std::to_string(options.vocab_size) +
                            " is out of range; expected " + std::to_string(kLeastVocabulary) + ".." +
                            std::to_string(kMostVocabulary));
  }
  if (options.text_bytes <= 0 || size_bytes(text) == 0)
    return invalid_argument("[tokenizer] there is no text to train on");
  PLIMSOLL_ASSIGN(std::string indents, try_find_indents(text, options.text_bytes));
  LineIterator lines(text, options.text_bytes);
  std::string model;
  const auto status =
      sentencepiece::SentencePieceTrainer::Train(to_settings(options, std::move(indents)), &lines, &model);
  if (lines.error()) return *lines.error();
  if (!status.ok()) {
    return invalid_argument("[tokenizer] sentencepiece cannot train on this text: " + status.ToString() +
                            "; try another vocab_size, more text, or the byte tokenizer");
  }
  return model;
}

}  // namespace plimsoll::data
