#include "memory/ledger.h"

#include <cstdio>
#include <string_view>

#include "core/check.h"

namespace plimsoll::memory {
namespace {

size_t index(Space space) { return static_cast<size_t>(space); }
size_t index(Category category) { return static_cast<size_t>(category); }

std::string format_line(std::string_view space, std::string_view category, Bytes now, Bytes peak, Bytes at_peak) {
  char line[160];
  std::snprintf(line, sizeof line, "%-7.*s %-16.*s %12s %12s %12s\n", static_cast<int>(space.size()), space.data(),
                static_cast<int>(category.size()), category.data(), to_string(now).c_str(), to_string(peak).c_str(),
                to_string(at_peak).c_str());
  return line;
}

}  // namespace

void Ledger::set_locked(PerSpace& space, size_t category, Bytes size) {
  PLIMSOLL_CHECK(size.value >= 0, "ledger row below zero: ", to_string(static_cast<Category>(category)), " ",
                 size.value);
  space.total_now += size - space.now[category];
  space.now[category] = size;
  if (size > space.peak[category]) space.peak[category] = size;
  if (space.total_now > space.total_peak) {
    space.total_peak = space.total_now;
    space.at_peak = space.now;
  }
}

void Ledger::add(Space space, Category category, Bytes size) {
  PLIMSOLL_CHECK(size.value >= 0, size.value);
  const std::lock_guard lock(mutex_);
  PerSpace& account = spaces_[index(space)];
  set_locked(account, index(category), account.now[index(category)] + size);
}

void Ledger::remove(Space space, Category category, Bytes size) {
  PLIMSOLL_CHECK(size.value >= 0, size.value);
  const std::lock_guard lock(mutex_);
  PerSpace& account = spaces_[index(space)];
  set_locked(account, index(category), account.now[index(category)] - size);
}

void Ledger::set(Space space, Category category, Bytes size) {
  const std::lock_guard lock(mutex_);
  set_locked(spaces_[index(space)], index(category), size);
}

Bytes Ledger::now(Space space) const {
  const std::lock_guard lock(mutex_);
  return spaces_[index(space)].total_now;
}

Bytes Ledger::peak(Space space) const {
  const std::lock_guard lock(mutex_);
  return spaces_[index(space)].total_peak;
}

Bytes Ledger::now(Space space, Category category) const {
  const std::lock_guard lock(mutex_);
  return spaces_[index(space)].now[index(category)];
}

Bytes Ledger::peak(Space space, Category category) const {
  const std::lock_guard lock(mutex_);
  return spaces_[index(space)].peak[index(category)];
}

std::vector<LedgerRow> Ledger::rows() const {
  const std::lock_guard lock(mutex_);
  std::vector<LedgerRow> rows;
  for (size_t s = 0; s < spaces_.size(); ++s) {
    const PerSpace& space = spaces_[s];
    for (size_t c = 0; c < space.now.size(); ++c)
      if (space.peak[c].value > 0)
        rows.push_back(
            {static_cast<Space>(s), static_cast<Category>(c), space.now[c], space.peak[c], space.at_peak[c]});
  }
  return rows;
}

std::string to_string(const Ledger& ledger) {
  char head[160];
  std::snprintf(head, sizeof head, "%-7s %-16s %12s %12s %12s\n", "space", "category", "now", "peak", "at peak");
  std::string out = head;
  const std::vector<LedgerRow> rows = ledger.rows();
  for (size_t i = 0; i < rows.size(); ++i) {
    const LedgerRow& row = rows[i];
    out += format_line(to_string(row.space), to_string(row.category), row.now, row.peak, row.at_space_peak);
    if (i + 1 == rows.size() || rows[i + 1].space != row.space)
      out += format_line(to_string(row.space), "total", ledger.now(row.space), ledger.peak(row.space),
                         ledger.peak(row.space));
  }
  return out;
}

}  // namespace plimsoll::memory
