#include "models/sizes.h"

#include <cmath>

#include "core/attributes.h"

namespace plimsoll::models {
namespace {

std::string start(std::string_view model, std::string_view name, const std::string& value) {
  return "[" + std::string(model) + "] " + std::string(name) + " is " + value;
}

}  // namespace

Status check_sizes(std::string_view model, std::initializer_list<Size> sizes) {
  for (const Size& size : sizes)
    if (size.value < 1 || size.value > size.most)
      return invalid_argument(start(model, size.name, std::to_string(size.value)) + "; expected 1.." +
                              std::to_string(size.most));
  return {};
}

Status check_heads(std::string_view model, const Size& heads, const Size& width) {
  if (width.value % heads.value == 0) return {};
  return invalid_argument(start(model, heads.name, std::to_string(heads.value)) + ", which does not divide " +
                          std::string(width.name) + " " + std::to_string(width.value));
}

Status check_batch(std::string_view model, int64_t batch, int64_t seq, int64_t most_seq) {
  PLIMSOLL_RETURN_IF_ERROR(check_sizes(model, {{"batch", batch, kMostIds}, {"seq", seq, most_seq}}));
  return check_sizes(model, {{"batch", batch, kMostIds / seq}});
}

Status check_start_and_norm(std::string_view model, double initializer_range, double epsilon) {
  if (!(initializer_range >= 0 && std::isfinite(initializer_range)))
    return invalid_argument(start(model, "initializer_range", to_string(Attribute(initializer_range))) +
                            "; expected a finite number, 0 or more");
  if (epsilon > 0 && std::isfinite(epsilon)) return {};
  return invalid_argument(start(model, "epsilon of layer norms", to_string(Attribute(epsilon))) +
                          "; expected a finite number above 0");
}

Status check_dropout(std::string_view model, double p) {
  if (p >= 0 && p < 1) return {};
  return invalid_argument(start(model, "dropout", to_string(Attribute(p))) + "; expected 0 <= dropout < 1");
}

}  // namespace plimsoll::models
