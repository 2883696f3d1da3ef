#pragma once
#include <cstddef>
#include <string>
#include "core/tensor_desc.h"
namespace plimsoll::engine {
struct TensorView {
  std::string name;
  TensorDesc desc;
  std::byte* data = nullptr;
};
}  // namespace plimsoll::engine
