#pragma once

#include <cstdint>
#include <iterator>
#include <map>

namespace plimsoll::plan {

/// Values on half-open ranges of int64; what was never assigned has none.
///
/// Example: assign(0, 8, a), assign(2, 4, b) gives [0,2) a, [2,4) b, [4,8) a.
/// Cost: O(log n) and O(1) for each piece within the range.
template <class Value>
class IntervalMap {
 public:
  void clear() { pieces_.clear(); }

  /// Puts `value` on all of [begin, end).
  void assign(int64_t begin, int64_t end, Value value) {
    if (begin >= end) return;
    split(begin);
    split(end);
    pieces_.erase(pieces_.lower_bound(begin), pieces_.lower_bound(end));
    pieces_.emplace(begin, Piece{end, std::move(value)});
  }

  /// Leaves nothing on [begin, end).
  void erase(int64_t begin, int64_t end) {
    if (begin >= end) return;
    split(begin);
    split(end);
    pieces_.erase(pieces_.lower_bound(begin), pieces_.lower_bound(end));
  }

  /// Calls change(Value&) for every piece.
  template <class Change>
  void for_each(Change change) {
    for (auto& [begin, piece] : pieces_) change(piece.value);
  }

  /// Calls visit(begin, end, const Value*) for [begin, end) in order, piece by piece, with nullptr for gaps.
  template <class Visit>
  void visit(int64_t begin, int64_t end, Visit visit) const {
    auto it = pieces_.upper_bound(begin);
    if (it != pieces_.begin() && std::prev(it)->second.end > begin) --it;
    int64_t at = begin;
    for (; at < end && it != pieces_.end() && it->first < end; ++it) {
      if (it->first > at) visit(at, it->first, nullptr);
      const int64_t from = it->first > at ? it->first : at;
      at = it->second.end < end ? it->second.end : end;
      visit(from, at, &it->second.value);
    }
    if (at < end) visit(at, end, nullptr);
  }

  /// Changes every piece of [begin, end) by change(Value&); gaps get a Value{} first.
  template <class Change>
  void change(int64_t begin, int64_t end, Change change) {
    if (begin >= end) return;
    split(begin);
    split(end);
    int64_t at = begin;
    auto it = pieces_.lower_bound(begin);
    while (at < end) {
      if (it == pieces_.end() || it->first > at) {
        const int64_t gap_end = it == pieces_.end() || it->first > end ? end : it->first;
        it = pieces_.emplace_hint(it, at, Piece{gap_end, Value{}});
      }
      change(it->second.value);
      at = it->second.end;
      ++it;
    }
  }

  /// Removes every piece whose value the predicate holds for.
  template <class Predicate>
  void erase_if(Predicate predicate) {
    std::erase_if(pieces_, [&](auto& piece) { return predicate(piece.second.value); });
  }

 private:
  struct Piece {
    int64_t end;
    Value value;
  };

  /// Makes `at` a border where it lies inside a piece.
  void split(int64_t at) {
    auto it = pieces_.upper_bound(at);
    if (it == pieces_.begin()) return;
    --it;
    if (it->first == at || it->second.end <= at) return;
    pieces_.emplace_hint(std::next(it), at, Piece{it->second.end, it->second.value});
    it->second.end = at;
  }

  std::map<int64_t, Piece> pieces_;
};

}  // namespace plimsoll::plan
