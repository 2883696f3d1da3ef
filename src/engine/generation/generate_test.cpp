#include "engine/generation/generate.h"

#include <gtest/gtest.h>

#include "engine/generation/inference_plan.h"
#include "memory/arena.h"
#include "models/gpt2.h"

namespace plimsoll::engine {
namespace {

constexpr int64_t kContext = 24;

/// A small GPT-2 with the weights that a seed draws, `batch` texts at a time.
class Decoder {
 public:
  explicit Decoder(int64_t batch) {
    const models::Gpt2Config config{
        .vocab_size = 260, .block_size = kContext, .n_layer = 2, .n_head = 2, .n_embd = 32, .initializer_range = 0.5};
    const auto model = models::make_gpt2_decoder(config, batch, 1, kContext, environment_->ops()).value();
    plan_ = plan_inference(model.graph, *environment_, {}, 0).value();
    arena_ = memory::try_make_host_arena(Bytes{plan_.program.plan.arena_bytes}, environment_->pool()).value();
    for (const auto& [name, parameter] : model.parameters) {
      const Place& place = plan_.program.lowered.state.at(name);
      auto* values = reinterpret_cast<float*>(arena_->at(plan_.program.offset_of(place)));
      models::initialize({values, static_cast<size_t>(place.desc.numel())}, 0, parameter.initializer, name, 11);
    }
    runner_ = std::make_unique<Runner>(plan_.program, *environment_, arena_->data());
  }

  Result<std::vector<Generation>> generate(const std::vector<std::string>& prompts, int64_t tokens,
                                           const SamplingOptions& options) {
    return engine::generate(*runner_, *tokenizer_, prompts, tokens, kContext, options,
                            [](size_t, std::string_view) { return true; });
  }

 private:
  std::unique_ptr<Environment> environment_ = Environment::make({.threads = 2}).value();
  std::unique_ptr<data::Tokenizer> tokenizer_ = data::make_byte_tokenizer();
  InferencePlan plan_;
  std::unique_ptr<memory::Arena> arena_;
  std::unique_ptr<Runner> runner_;
};

TEST(Generate, ATextIsTheSameHoweverManyGoWithIt) {
  const std::vector<std::string> prompts{"a", "the file that", "", "some more", "twenty-three characters"};
  Decoder alone(1);
  for (const SamplingOptions& options :
       {SamplingOptions{.temperature = 0}, {.temperature = 0.9, .top_k = 9, .seed = 3}})
    for (const int64_t tokens : {1, 9, 60}) {  // the last goes beyond the context, twice
      std::vector<std::string> expected;
      for (const std::string& prompt : prompts)
        expected.push_back(alone.generate({prompt}, tokens, options)->at(0).text);
      for (const int64_t batch : {1, 2, 5, 7}) {
        const auto texts = Decoder(batch).generate(prompts, tokens, options);
        ASSERT_TRUE(texts.ok()) << texts.error().message;
        ASSERT_EQ(texts->size(), prompts.size());
        for (size_t i = 0; i < prompts.size(); ++i) {
          EXPECT_EQ(texts->at(i).text, expected[i]) << batch << " at a time, " << tokens << " tokens, text " << i;
          EXPECT_EQ(texts->at(i).tokens, tokens);
          EXPECT_EQ(texts->at(i).prompt_tokens, std::max<int64_t>(1, std::ssize(prompts[i])));
        }
      }
    }
}

TEST(Generate, RefusesAPromptThatIsTooLongBeforeAnyTextIsMade) {
  const auto texts = Decoder(2).generate({"a", std::string(kContext, 'x')}, 3, {});
  ASSERT_FALSE(texts.ok());
  EXPECT_EQ(texts.error().message, "the prompt has 24 tokens; the model takes 24, so shorten it");
}

}  // namespace
}  // namespace plimsoll::engine
