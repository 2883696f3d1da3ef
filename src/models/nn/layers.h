#pragma once

#include <string>

#include "models/model.h"

/// Layers are functions that append a few ops and the parameters that these need, below the builder's scope. After a
/// mistake they do nothing; the builder's status says what was wrong.
namespace plimsoll::models::nn {

using graph::ValueId;

/// How a linear layer keeps its weight, as published files do.
enum class WeightOrder : uint8_t {
  kOutIn,  ///< [out, in], PyTorch's Linear
  kInOut   ///< [in, out], the Conv1D of GPT-2's files
};

struct LinearOptions {
  Initializer weight = normal(0.02);
  Initializer bias = constant(0);
  WeightOrder order = WeightOrder::kOutIn;
};

/// y = x · W + b with parameters "<name>.weight" and "<name>.bias".
///
/// Shapes: x [..., in] → [..., out].
ValueId linear(ModelBuilder& b, const std::string& name, ValueId x, int64_t out, const LinearOptions& options = {});

/// (x - mean) / sqrt(variance + eps) · weight + bias over the last axis, starting as the identity on normalised rows.
///
/// Source: Ba et al., Layer Normalization, 2016.
ValueId layer_norm(ModelBuilder& b, const std::string& name, ValueId x, double eps);

/// A table of `rows` vectors, "<name>.weight".
ValueId embedding_table(ModelBuilder& b, const std::string& name, int64_t rows, int64_t width, Initializer initializer);

/// Rows of `table` by id. Shapes: table [V,d], ids i32 [...] → [..., d].
ValueId embedding(ModelBuilder& b, const std::string& name, ValueId table, ValueId ids);

/// The first `rows` rows of `table`, without a copy, so that adding them broadcasts over a batch.
///
/// Shapes: table [V,d] → [rows,d].
ValueId leading_rows(ModelBuilder& b, const std::string& name, ValueId table, int64_t rows);

/// Zeroes a share `p` of the elements and scales the rest by 1 / (1 - p); no node at all where p is 0.
///
/// Reads the step scalars seed, step and microbatch; the mask belongs to the node's path.
ValueId dropout(ModelBuilder& b, const std::string& name, ValueId x, double p);

struct FeedForwardOptions {
  std::string up = "up";      ///< name of the first linear layer
  std::string down = "down";  ///< name of the second
  int64_t hidden = 0;
  std::string gelu = "none";  ///< gelu's `approximate`
  LinearOptions up_options = {};
  LinearOptions down_options = {};
};

/// down(gelu(up(x))). Shapes: x [..., d] → [..., d].
ValueId feed_forward(ModelBuilder& b, ValueId x, const FeedForwardOptions& options);

/// x with other extents; one of them may be -1: what is left.
ValueId reshape(ModelBuilder& b, ValueId x, std::vector<int64_t> shape);

}  // namespace plimsoll::models::nn
