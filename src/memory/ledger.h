#pragma once

#include <array>
#include <mutex>
#include <string>
#include <vector>

#include "core/bytes.h"
#include "core/tiers.h"

namespace plimsoll::memory {

/// Bytes of one category in one space.
struct LedgerRow {
  Space space = Space::kHost;
  Category category = Category::kRuntime;
  Bytes now;
  Bytes peak;           ///< of this row by itself
  Bytes at_space_peak;  ///< when its space as a whole was at its peak: these add up to the space's peak
  friend bool operator==(const LedgerRow&, const LedgerRow&) = default;
};

/// The account of every byte that a run holds; progress lines, reports and errors all quote it.
///
/// Order: may be called from any thread. Memory: updates allocate nothing. Cost: an update takes some 20 ns, and some
/// 10 more while it sets a new peak.
class Ledger {
 public:
  Ledger() = default;
  Ledger(const Ledger&) = delete;
  Ledger& operator=(const Ledger&) = delete;

  void add(Space space, Category category, Bytes size);
  /// Requires: no more than is held there.
  void remove(Space space, Category category, Bytes size);
  /// For what is read, not handed out: sets the row (libraries' holdings, say).
  void set(Space space, Category category, Bytes size);

  Bytes now(Space space) const;
  Bytes peak(Space space) const;
  Bytes now(Space space, Category category) const;
  Bytes peak(Space space, Category category) const;

  /// The rows that ever held a byte, by space and then category.
  std::vector<LedgerRow> rows() const;

 private:
  using ByCategory = std::array<Bytes, kCategoryCount>;
  struct PerSpace {
    ByCategory now{};
    ByCategory peak{};
    ByCategory at_peak{};
    Bytes total_now;
    Bytes total_peak;
  };

  void set_locked(PerSpace& space, size_t category, Bytes size);

  mutable std::mutex mutex_;
  std::array<PerSpace, kSpaceCount> spaces_{};
};

/// A table for people: one line a row, and a total for each space.
std::string to_string(const Ledger& ledger);

}  // namespace plimsoll::memory
