#pragma once

#include <initializer_list>
#include <string_view>

#include "core/result.h"

namespace plimsoll::models {

/// A size that a user gives, with the most that a model takes.
struct Size {
  std::string_view name;
  int64_t value = 0;
  int64_t most = 0;
};

/// Ids and targets are i32. The other limits keep every product of sizes in a model below 2^63.
inline constexpr int64_t kMostIds = (int64_t{1} << 31) - 1;
inline constexpr int64_t kMostWidth = int64_t{1} << 20;
inline constexpr int64_t kMostLayers = int64_t{1} << 12;

/// Errors: invalid_argument, for the first size outside [1, most]: "[gpt2] n_head is 0; expected 1..1048576".
Status check_sizes(std::string_view model, std::initializer_list<Size> sizes);

/// Errors: invalid_argument, unless `heads` divides `width`.
Status check_heads(std::string_view model, const Size& heads, const Size& width);

/// Errors: invalid_argument, for batch or seq below 1, seq beyond `most_seq`, or more tokens than kMostIds.
Status check_batch(std::string_view model, int64_t batch, int64_t seq, int64_t most_seq);

/// Errors: invalid_argument, unless both of a model's small numbers make sense: a standard deviation finite and 0 or
/// more, an epsilon finite and above 0.
Status check_start_and_norm(std::string_view model, double initializer_range, double epsilon);

/// Errors: invalid_argument, unless 0 <= p < 1.
Status check_dropout(std::string_view model, double p);

}  // namespace plimsoll::models
