#pragma once

#include <span>
#include <string>
#include <variant>

#include "models/bert.h"
#include "models/gpt2.h"
#include "models/mlp.h"

namespace plimsoll::models {

/// The settings of a model of any family.
using ModelConfig = std::variant<Gpt2Config, BertConfig, MlpConfig>;

/// A model that is known by name.
struct ZooEntry {
  std::string name;
  ModelConfig config;
  int64_t parameter_count = 0;  ///< as published; tied weights count once
  std::string summary;          ///< one line
};

/// "gpt2", "bert" or "mlp".
std::string_view family_of(const ModelConfig& config);

/// All of them, by family and size.
std::span<const ZooEntry> zoo();

/// Errors: invalid_argument, suggesting the nearest name.
Result<ZooEntry> find_model(std::string_view name);

/// The training graph's forward part of any family; `seq` counts for nothing where samples are no sequences. No weight
/// is allocated. Errors: those of the family.
Result<Model> make_model(const ModelConfig& config, int64_t batch, int64_t seq, const ops::OpTable& ops);

/// The same by name; the model bears that name.
Result<Model> make_model(std::string_view name, int64_t batch, int64_t seq, const ops::OpTable& ops);

}  // namespace plimsoll::models
