#include "engine/run_file/data_needs.h"

#include <gtest/gtest.h>

#include <fstream>

#include "data/byte_ngram.h"
#include "data/tokens.h"

namespace plimsoll::engine {
namespace {

TEST(DataNeeds, GrowWithTheVocabularyThatIsTrained) {
  RunConfig config;
  config.data.tokenizer = "sentencepiece";
  config.data.vocab_size = 2048;
  const DataNeeds small = try_find_data_needs(config).value();
  config.data.vocab_size = 1 << 20;
  const DataNeeds large = try_find_data_needs(config).value();
  EXPECT_GE(large.loader_bytes - small.loader_bytes, int64_t{200} << 20);
  EXPECT_GE(large.preparation_bytes - small.preparation_bytes, int64_t{300} << 20);
}

TEST(DataNeeds, HoldTheByteModelBesideTheTokenizerForTextAlone) {
  RunConfig config;
  const DataNeeds text = try_find_data_needs(config).value();
  EXPECT_GE(text.baseline_bytes, data::ByteNgram::kTableBytes);
  EXPECT_LT(text.preparation_bytes, data::ByteNgram::kTableBytes) << "the byte model is counted only where it fits";
  config.data.kind = "tokens";
  config.data.tokenizer = "none";
  const DataNeeds tokens = try_find_data_needs(config).value();
  EXPECT_EQ(tokens.preparation_bytes, 0);
  EXPECT_EQ(tokens.baseline_bytes, 0);
  EXPECT_EQ(tokens.tokenizer_vocab, 0);
  EXPECT_EQ(tokens.loader_bytes, 2 * data::kTokenFileBytes);
}

TEST(DataNeeds, RefuseATokenizerThatTheBudgetCannotHoldBeforeItIsLoaded) {
  RunConfig config;
  config.data.tokenizer = testing::TempDir() + "/plimsoll_engine_large.model";
  std::ofstream(config.data.tokenizer) << std::string(3 << 20, 'x');
  config.memory.ram = Bytes{int64_t{10} << 20};
  const auto refused = try_find_data_needs(config);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::kInfeasible);
  EXPECT_EQ(refused.error().infeasible->needed_bytes, (int64_t{1} << 20) + 4 * (int64_t{3} << 20));
  config.memory.ram = Bytes{int64_t{100} << 20};
  EXPECT_EQ(try_find_data_needs(config).error().code, ErrorCode::kCorrupt);
}

}  // namespace
}  // namespace plimsoll::engine
