#include "models/nn/layers.h"

namespace plimsoll::models::nn {

ValueId linear(ModelBuilder& b, const std::string& name, ValueId x, int64_t out, const LinearOptions& options) {
  if (!b.status().ok()) return {};
  const int64_t in = b.desc(x).shape.at(-1);
  const bool is_out_in = options.order == WeightOrder::kOutIn;
  const ValueId weight = b.weight(name + ".weight", is_out_in ? Shape{out, in} : Shape{in, out}, options.weight);
  const ValueId bias = b.weight(name + ".bias", {out}, options.bias, false);
  return b.add("matmul", {x, weight, bias}, {{"transpose_b", is_out_in}}, {.name = name});
}

ValueId layer_norm(ModelBuilder& b, const std::string& name, ValueId x, double eps) {
  if (!b.status().ok()) return {};
  const Shape width{b.desc(x).shape.at(-1)};
  const ValueId weight = b.weight(name + ".weight", width, constant(1), false);
  const ValueId bias = b.weight(name + ".bias", width, constant(0), false);
  return b.add("layer_norm", {x, weight, bias}, {{"eps", eps}}, {.name = name});
}

ValueId embedding_table(ModelBuilder& b, const std::string& name, int64_t rows, int64_t width,
                        Initializer initializer) {
  return b.weight(name + ".weight", {rows, width}, initializer);
}

ValueId embedding(ModelBuilder& b, const std::string& name, ValueId table, ValueId ids) {
  return b.add("embedding", {table, ids}, {}, {.name = name});
}

ValueId leading_rows(ModelBuilder& b, const std::string& name, ValueId table, int64_t rows) {
  if (!b.status().ok()) return {};
  const std::vector<int64_t> ends{rows, b.desc(table).shape.at(-1)};
  return b.add("slice", {table}, {{"starts", std::vector<int64_t>{0, 0}}, {"ends", ends}}, {.name = name});
}

ValueId dropout(ModelBuilder& b, const std::string& name, ValueId x, double p) {
  if (p == 0) return x;
  const std::string path = b.target().unique_node_name(b.path(name));
  const ValueId seed = b.scalar("seed", DType::kI64);
  const ValueId step = b.scalar("step", DType::kI64);
  const ValueId microbatch = b.scalar("microbatch", DType::kI64);
  return b.add("dropout", {x, seed, step, microbatch}, {{"p", p}, {"path", path}}, {.name = name});
}

ValueId feed_forward(ModelBuilder& b, ValueId x, const FeedForwardOptions& options) {
  if (!b.status().ok()) return {};
  const int64_t width = b.desc(x).shape.at(-1);
  const ValueId up = linear(b, options.up, x, options.hidden, options.up_options);
  const ValueId active = b.add("gelu", {up}, {{"approximate", options.gelu}});
  return linear(b, options.down, active, width, options.down_options);
}

ValueId reshape(ModelBuilder& b, ValueId x, std::vector<int64_t> shape) {
  return b.add("reshape", {x}, {{"shape", std::move(shape)}});
}

}  // namespace plimsoll::models::nn
