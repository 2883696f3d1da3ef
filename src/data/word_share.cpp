#include "data/word_share.h"

#include <algorithm>

namespace plimsoll::data {
namespace {

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || static_cast<unsigned char>(c) >= 0x80;
}
bool is_in_word(char c) { return is_letter(c) || (c >= '0' && c <= '9') || c == '_'; }
bool is_word(std::string_view run) { return std::any_of(run.begin(), run.end(), is_letter); }

}  // namespace

WordSearch::WordSearch(std::string_view sample, bool starts_inside_word) {
  size_t start = starts_inside_word
                     ? static_cast<size_t>(std::find_if_not(sample.begin(), sample.end(), is_in_word) - sample.begin())
                     : 0;
  while (start < sample.size()) {
    size_t end = start;
    while (end < sample.size() && is_in_word(sample[end])) ++end;
    const std::string_view run = sample.substr(start, end - start);
    if (is_word(run) && end < sample.size()) {
      ++found_.words;
      ++missing_[std::string(run)];
      longest_ = std::max(longest_, run.size());
    }
    start = end + 1;
  }
}

void WordSearch::add(std::string_view text) {
  for (char c : text) {
    if (!is_in_word(c)) {
      end_word();
    } else if (word_.size() <= longest_) {  // text may have no word ends at all, so no more of a word is kept
      word_ += c;
    }
  }
}

void WordSearch::end_word() {
  if (word_.empty()) return;
  if (const auto it = missing_.find(word_); it != missing_.end()) {
    found_.known += it->second;
    missing_.erase(it);
  }
  word_.clear();
}

Result<WordShare> try_count_known_words(const TextPart& corpus, std::string_view sample, bool starts_inside_word,
                                        FunctionRef<bool(int64_t, int64_t)> progress) {
  WordSearch search(sample, starts_inside_word);
  TextReader reader(corpus);
  int64_t done = 0;
  while (!search.has_found_all()) {
    PLIMSOLL_ASSIGN(const std::string_view chunk, reader.try_next());
    if (chunk.empty()) break;
    search.add(chunk);
    done += static_cast<int64_t>(chunk.size());
    if (!progress(done, size_bytes(corpus))) return cancelled("stopped while the sample's words were looked for");
  }
  search.finish();
  return search.found();
}

}  // namespace plimsoll::data
