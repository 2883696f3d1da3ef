#include "engine/run_file/model_choice.h"

#include <gtest/gtest.h>

#include "ops/op_table.h"

namespace plimsoll::engine {
namespace {

/// What choosing the model of a run file with this [model] section says.
std::string refusal(const std::string& model) {
  static const ops::OpTable ops = ops::make_op_table();
  const std::string text = "[model]\n" + model + "\n[data]\ntrain = \"text\"\n[train]\nsteps = 1\n";
  const auto choice = choose_model(try_parse_run_config(text, "run.toml").value(), 256, ops);
  return choice.ok() ? "" : choice.error().message;
}

TEST(ModelChoice, NamesTheRunFilesKeysForEveryFamily) {
  EXPECT_EQ(refusal("name = \"gpt2\"\nn_embd = 65\nn_head = 4"),
            "run.toml:3: [model] n_embd is 65; expected a multiple of n_head, 4");
  EXPECT_EQ(refusal("name = \"gpt2\"\nn_embd = 100"),
            "run.toml:3: [model] n_embd is 100; expected a multiple of n_head, 12");
  EXPECT_EQ(refusal("name = \"bert\"\nn_embd = 100"),
            "run.toml:3: [model] n_embd is 100; expected a multiple of n_head, 12");
  EXPECT_EQ(refusal("name = \"bert\"\nn_head = 7"),
            "run.toml:3: [model] n_head is 7; expected a divisor of the model's n_embd, 768");
  EXPECT_EQ(refusal("name = \"bert\"\nn_head = 8"), "");
}

TEST(ModelChoice, HasRoomForEveryIdOfTheTokenizer) {
  EXPECT_EQ(refusal("name = \"gpt2\"\nvocab_size = 255"),
            "run.toml:3: [model] vocab_size is 255; the tokenizer needs 256, so leave it out or give that");
  EXPECT_EQ(refusal("name = \"bert\"\nvocab_size = 258"),
            "run.toml:3: [model] vocab_size is 258; the tokenizer needs 259, so leave it out or give that");
  EXPECT_EQ(refusal("name = \"bert\"\nvocab_size = 259"), "");
}

}  // namespace
}  // namespace plimsoll::engine
