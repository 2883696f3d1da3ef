#include "data/word_share.h"

#include <algorithm>

#include "core/hash.h"

namespace plimsoll::data {
namespace {

constexpr size_t kLeastUnsorted = 1 << 16;

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || static_cast<unsigned char>(c) >= 0x80;
}
bool is_in_word(char c) { return is_letter(c) || (c >= '0' && c <= '9') || c == '_'; }
bool is_word(std::string_view run) { return std::any_of(run.begin(), run.end(), is_letter); }

}  // namespace

void WordSet::add(std::string_view text) {
  for (char c : text) {
    if (is_in_word(c)) {
      word_ += c;
    } else if (!word_.empty()) {
      end_word();
    }
  }
}

void WordSet::end_word() {
  if (is_word(word_)) hashes_.push_back(stable_hash(word_));
  word_.clear();
  // Most words are repeats, so the list is made unique whenever it has doubled.
  if (hashes_.size() >= std::max(2 * sorted_, kLeastUnsorted)) compact();
}

void WordSet::compact() {
  std::sort(hashes_.begin(), hashes_.end());
  hashes_.erase(std::unique(hashes_.begin(), hashes_.end()), hashes_.end());
  sorted_ = hashes_.size();
}

void WordSet::finish() {
  end_word();
  compact();
  hashes_.shrink_to_fit();
}

bool WordSet::contains(std::string_view word) const {
  return std::binary_search(hashes_.begin(), hashes_.end(), stable_hash(word));
}

Result<WordSet> try_collect_words(const TextPart& text) {
  WordSet words;
  TextReader reader(text);
  while (true) {
    PLIMSOLL_ASSIGN(const std::string_view chunk, reader.try_next());
    if (chunk.empty()) break;
    words.add(chunk);
  }
  words.finish();
  return words;
}

WordShare count_known_words(const WordSet& corpus, std::string_view sample, bool starts_inside_word) {
  WordShare share;
  size_t start = starts_inside_word
                     ? static_cast<size_t>(std::find_if_not(sample.begin(), sample.end(), is_in_word) - sample.begin())
                     : 0;
  while (start < sample.size()) {
    size_t end = start;
    while (end < sample.size() && is_in_word(sample[end])) ++end;
    const std::string_view run = sample.substr(start, end - start);
    if (is_word(run) && end < sample.size()) {
      ++share.words;
      share.known += corpus.contains(run);
    }
    start = end + 1;
  }
  return share;
}

}  // namespace plimsoll::data
