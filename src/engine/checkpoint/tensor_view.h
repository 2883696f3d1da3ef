#pragma once

#include <cstddef>
#include <string>

#include "core/tensor_desc.h"

namespace plimsoll::engine {

/// A named tensor of the state region, or of wherever else a caller holds one.
struct TensorView {
  std::string name;
  TensorDesc desc;
  std::byte* data = nullptr;
};

}  // namespace plimsoll::engine
