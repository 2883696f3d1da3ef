#include "engine/run_file/model_choice.h"

#include "core/hash.h"
#include "models/zoo.h"

namespace plimsoll::engine {
namespace {

/// The value of a key where the run file gives one.
void put(int64_t given, int64_t& setting) {
  if (given > 0) setting = given;
}

/// The vocabulary of the run file, of the tokenizer, or of the published model, and that it holds all ids.
Result<int64_t> try_vocab(const RunConfig& config, int64_t tokenizer_vocab, int64_t special, int64_t published) {
  const int64_t needed = tokenizer_vocab > 0 ? tokenizer_vocab + special : 0;
  const int64_t vocab = config.model.vocab_size > 0 ? config.model.vocab_size : needed > 0 ? needed : published;
  if (vocab < needed)
    return invalid_argument(config.at("model", "vocab_size") + " is " + std::to_string(vocab) +
                            "; the tokenizer needs " + std::to_string(needed) + ", so leave it out or give that");
  if (vocab <= special)
    return invalid_argument(config.at("model", "vocab_size") + " is " + std::to_string(vocab) +
                            "; expected more than the " + std::to_string(special) + " special tokens of the model");
  return vocab;
}

/// What the model checks too, but in the run file's words, for sizes of which some may be the published ones.
Status check_heads_in_run_file(const RunConfig& config, int64_t n_head, int64_t n_embd) {
  if (n_embd % n_head == 0) return {};
  const auto size = [&](const char* key, int64_t value) {
    return config.at("model", key) + " is " + std::to_string(value);
  };
  if (config.model.n_embd == 0)
    return invalid_argument(size("n_head", n_head) + "; expected a divisor of the model's n_embd, " +
                            std::to_string(n_embd));
  return invalid_argument(size("n_embd", n_embd) + "; expected a multiple of n_head, " + std::to_string(n_head));
}

ModelChoice choose_gpt2(const std::string& name, models::Gpt2Config gpt2, const ops::OpTable& ops) {
  models::Gpt2Config plain = gpt2;
  plain.dropout = 0;
  ModelChoice out{.name = name, .vocab_size = gpt2.vocab_size, .context = gpt2.block_size};
  const std::string sizes = "gpt2 " + std::to_string(gpt2.vocab_size) + " " + std::to_string(gpt2.block_size) + " " +
                            std::to_string(gpt2.n_layer) + " " + std::to_string(gpt2.n_head) + " " +
                            std::to_string(gpt2.n_embd);
  out.hash = stable_hash(sizes);
  out.training = [=, &ops](int64_t batch, int64_t seq) { return models::make_gpt2(gpt2, batch, seq, ops); };
  out.evaluation = [=, &ops](int64_t batch, int64_t seq) { return models::make_gpt2(plain, batch, seq, ops); };
  out.decoder = [=, &ops](int64_t batch, int64_t tokens, int64_t context) {
    return models::make_gpt2_decoder(plain, batch, tokens, context, ops);
  };
  return out;
}

ModelChoice choose_bert(const std::string& name, models::BertConfig bert, const ops::OpTable& ops) {
  models::BertConfig plain = bert;
  plain.dropout = 0;
  ModelChoice out{
      .name = name, .vocab_size = bert.vocab_size, .context = bert.max_position_embeddings, .is_masked = true};
  const std::string sizes = "bert " + std::to_string(bert.vocab_size) + " " +
                            std::to_string(bert.max_position_embeddings) + " " +
                            std::to_string(bert.num_hidden_layers) + " " + std::to_string(bert.num_attention_heads) +
                            " " + std::to_string(bert.hidden_size) + " " + std::to_string(bert.intermediate_size);
  out.hash = stable_hash(sizes);
  out.training = [=, &ops](int64_t batch, int64_t seq) { return models::make_bert(bert, batch, seq, ops); };
  out.evaluation = [=, &ops](int64_t batch, int64_t seq) { return models::make_bert(plain, batch, seq, ops); };
  return out;
}

/// The published settings of a model, or those of its family's smallest where the name is the family's.
Result<models::ModelConfig> try_find_config(const std::string& name) {
  if (name == "gpt2") return models::ModelConfig(models::Gpt2Config{});
  if (name == "bert") return models::ModelConfig(models::BertConfig{});
  PLIMSOLL_ASSIGN(const models::ZooEntry entry, models::find_model(name));
  return entry.config;
}

}  // namespace

Result<ModelChoice> choose_model(const RunConfig& config, int64_t tokenizer_vocab, const ops::OpTable& ops) {
  const RunConfig::Model& m = config.model;
  auto found = try_find_config(m.name);
  if (!found.ok()) return found.error().with_context(config.at("model", "name"));
  if (auto* gpt2 = std::get_if<models::Gpt2Config>(&*found)) {
    put(m.n_layer, gpt2->n_layer);
    put(m.n_head, gpt2->n_head);
    put(m.n_embd, gpt2->n_embd);
    put(m.block_size, gpt2->block_size);
    gpt2->dropout = m.dropout;
    PLIMSOLL_ASSIGN(gpt2->vocab_size, try_vocab(config, tokenizer_vocab, 0, gpt2->vocab_size));
    PLIMSOLL_RETURN_IF_ERROR(check_heads_in_run_file(config, gpt2->n_head, gpt2->n_embd));
    PLIMSOLL_RETURN_IF_ERROR(models::check_config(*gpt2));
    return choose_gpt2(m.name, *gpt2, ops);
  }
  if (auto* bert = std::get_if<models::BertConfig>(&*found)) {
    put(m.n_layer, bert->num_hidden_layers);
    put(m.n_head, bert->num_attention_heads);
    put(m.n_embd, bert->hidden_size);
    put(m.block_size, bert->max_position_embeddings);
    if (m.n_embd > 0) bert->intermediate_size = 4 * m.n_embd;
    bert->dropout = m.dropout;
    PLIMSOLL_ASSIGN(bert->vocab_size, try_vocab(config, tokenizer_vocab, kMaskedSpecialTokens, bert->vocab_size));
    PLIMSOLL_RETURN_IF_ERROR(check_heads_in_run_file(config, bert->num_attention_heads, bert->hidden_size));
    PLIMSOLL_RETURN_IF_ERROR(models::check_config(*bert));
    return choose_bert(m.name, *bert, ops);
  }
  return unsupported(config.at("model", "name") + " is '" + m.name +
                     "'; run files train on text or tokens, which takes a gpt2 or bert; an mlp is trained through the "
                     "C++ API");
}

}  // namespace plimsoll::engine
