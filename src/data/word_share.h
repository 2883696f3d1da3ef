#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "data/text.h"

namespace plimsoll::data {

/// The different words of a text, kept as hashes (8 bytes a word; two of a million words share one in 1 of 10^7 texts).
///
/// A word is a run of letters, digits, underscores and bytes above 127 with a letter among them; case matters.
class WordSet {
 public:
  /// Adds the words of `text`; a word may go on in the next call.
  void add(std::string_view text);
  /// Ends the last word; `contains` is of use afterwards.
  void finish();

  bool contains(std::string_view word) const;
  /// Requires: finish was called.
  int64_t size() const { return static_cast<int64_t>(hashes_.size()); }

 private:
  void end_word();
  void compact();

  std::vector<uint64_t> hashes_;  // sorted, each once, in the first sorted_ places
  size_t sorted_ = 0;
  std::string word_;
};

/// The words of a text. Errors: those of TextReader.
Result<WordSet> try_collect_words(const TextPart& text);

/// How many of a sample's words a text holds.
struct WordShare {
  int64_t known = 0;
  int64_t words = 0;
  double share() const { return words == 0 ? 0 : static_cast<double>(known) / static_cast<double>(words); }
};

/// Counts the words of `sample` that occur in `corpus`; a word that touches the sample's end may be cut off and is left
/// out, and so is one at its start where `starts_inside_word` says so.
WordShare count_known_words(const WordSet& corpus, std::string_view sample, bool starts_inside_word = false);

}  // namespace plimsoll::data
