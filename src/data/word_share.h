#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

#include "core/function_ref.h"
#include "core/result.h"
#include "data/text.h"

namespace plimsoll::data {

/// How many of a sample's words a text holds.
struct WordShare {
  int64_t known = 0;
  int64_t words = 0;
  double share() const { return words == 0 ? 0 : static_cast<double>(known) / static_cast<double>(words); }
};

/// Looks for the words of a sample in a text that passes by.
///
/// A word is a run of letters, digits, underscores and bytes above 127 with a letter among them; case matters. A word
/// that touches the sample's end may be cut off and is left out, and so is one at its start where `starts_inside_word`.
/// Memory: the sample's words, whatever the text's size.
class WordSearch {
 public:
  explicit WordSearch(std::string_view sample, bool starts_inside_word = false);

  /// Looks through `text`; a word may go on in the next call.
  void add(std::string_view text);
  /// Ends the last word.
  void finish() { end_word(); }

  const WordShare& found() const { return found_; }
  bool has_found_all() const { return found_.known == found_.words; }

 private:
  void end_word();

  std::unordered_map<std::string, int64_t> missing_;  // the sample's words not found yet, and how often it has them
  size_t longest_ = 0;                                // of them
  std::string word_;                                  // of the text, up to one byte more than the longest
  WordShare found_;
};

/// Counts the words of `sample` that occur in `corpus`, as WordSearch does.
///
/// `progress` is told the bytes done and the total, and returns false to stop.
/// Errors: those of TextReader; cancelled. Cost: reads the corpus until all words are found.
Result<WordShare> try_count_known_words(const TextPart& corpus, std::string_view sample, bool starts_inside_word,
                                        FunctionRef<bool(int64_t done, int64_t total)> progress);

}  // namespace plimsoll::data
