#include "models/zoo.h"

#include <vector>

#include "core/suggest.h"

namespace plimsoll::models {
namespace {

Gpt2Config gpt2(int64_t layers, int64_t heads, int64_t width) {
  return {.n_layer = layers, .n_head = heads, .n_embd = width};
}

BertConfig bert(int64_t layers, int64_t heads, int64_t width) {
  return {
      .num_hidden_layers = layers, .num_attention_heads = heads, .hidden_size = width, .intermediate_size = 4 * width};
}

std::vector<ZooEntry> make_zoo() {
  return {
      {"gpt2-124m", gpt2(12, 12, 768), 124'439'808, "GPT-2: 12 layers of width 768"},
      {"gpt2-355m", gpt2(24, 16, 1024), 354'823'168, "GPT-2 medium: 24 layers of width 1024"},
      {"gpt2-774m", gpt2(36, 20, 1280), 774'030'080, "GPT-2 large: 36 layers of width 1280"},
      {"gpt2-1.5b", gpt2(48, 25, 1600), 1'557'611'200, "GPT-2 XL: 48 layers of width 1600"},
      {"bert-base", bert(12, 12, 768), 110'106'428, "BERT base with both pre-training heads: 12 layers of width 768"},
      {"bert-large", bert(24, 16, 1024), 336'226'108,
       "BERT large with both pre-training heads: 24 layers of width 1024"},
      {"mlp-mnist", MlpConfig{.in = 784, .hidden = {512, 512}, .out = 10, .loss = "cross_entropy"}, 669'706,
       "Classifier of 28 x 28 images with two hidden layers of 512"},
  };
}

struct Maker {
  int64_t batch;
  int64_t seq;
  const ops::OpTable& ops;
  Result<Model> operator()(const Gpt2Config& config) const { return make_gpt2(config, batch, seq, ops); }
  Result<Model> operator()(const BertConfig& config) const { return make_bert(config, batch, seq, ops); }
  Result<Model> operator()(const MlpConfig& config) const { return make_mlp(config, batch, ops); }
};

}  // namespace

std::string_view family_of(const ModelConfig& config) {
  if (std::holds_alternative<Gpt2Config>(config)) return "gpt2";
  return std::holds_alternative<BertConfig>(config) ? "bert" : "mlp";
}

std::span<const ZooEntry> zoo() {
  static const std::vector<ZooEntry> entries = make_zoo();
  return entries;
}

Result<ZooEntry> find_model(std::string_view name) {
  std::vector<std::string> names;
  std::string list;
  for (const ZooEntry& entry : zoo()) {
    if (entry.name == name) return entry;
    names.push_back(entry.name);
    list += (list.empty() ? "" : ", ") + entry.name;
  }
  return invalid_argument("there is no model '" + std::string(name) + "'; known are " + list + suggest(name, names));
}

Result<Model> make_model(const ModelConfig& config, int64_t batch, int64_t seq, const ops::OpTable& ops) {
  return std::visit(Maker{batch, seq, ops}, config);
}

Result<Model> make_model(std::string_view name, int64_t batch, int64_t seq, const ops::OpTable& ops) {
  PLIMSOLL_ASSIGN(const ZooEntry entry, find_model(name));
  PLIMSOLL_ASSIGN(Model model, make_model(entry.config, batch, seq, ops));
  model.name = entry.name;
  return model;
}

}  // namespace plimsoll::models
