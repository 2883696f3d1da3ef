#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace plimsoll::parity {

/// What PyTorch recorded of one model, as make_fixtures.py describes it.
struct Fixture {
  struct Input {
    std::vector<int32_t> values;
    int64_t batch_numel = 0;  ///< elements of one batch
  };
  std::map<std::string, std::vector<float>> weights;    ///< by parameter
  std::map<std::string, std::vector<float>> gradients;  ///< by parameter
  std::map<std::string, std::vector<float>> losses;     ///< by run, one a step
  std::map<std::string, std::vector<float>> norms;      ///< by run, one a step
  std::map<std::string, Input> inputs;
  int64_t batches = 0;
};

/// Reads "<name>.safetensors" of the test's data. Requires: the file is whole.
Fixture read_fixture(const std::string& name);

}  // namespace plimsoll::parity
