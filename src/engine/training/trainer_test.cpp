#include "engine/training/trainer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>

#include "core/philox.h"
#include "engine/checkpoint/checkpoint.h"
#include "formats/token_file.h"

namespace plimsoll::engine {
namespace {

namespace fs = std::filesystem;

constexpr const char* kRunFile = R"(
[model]
name = "gpt2"
n_layer = 2
n_head = 2
n_embd = 16
block_size = 8
vocab_size = 32
dropout = 0.1
[data]
kind = "tokens"
[train]
batch_size = 2
accumulate = 2
steps = 10
[optimizer]
amsgrad = true
clip_norm = 1.0
[schedule]
name = "cosine"
warmup_steps = 4
[memory]
ram = "300MiB"
[run]
threads = 2
)";

/// 400 random ids below 32.
std::string write_tokens() {
  std::string path = testing::TempDir() + "/plimsoll_trainer.bin";
  auto writer = formats::TokenFileWriter::try_create(path, DType::kU16).value();
  for (uint64_t i = 0; i < 400; ++i)
    writer.try_append(std::vector<int32_t>{static_cast<int32_t>(Philox(1)(i, 0)[0] % 32)}).value();
  writer.try_finish().value();
  return path;
}

/// The bytes of weights and moments.
std::vector<std::byte> state_of(Trainer& trainer) {
  const std::byte* data = trainer.session().arena().data();
  return {data, data + trainer.session().plan().train.plan.state_bytes};
}

/// Sets tensors of the second layer so that the loss stays finite and the gradients do not: attention's input is 0, so
/// that its weights do nothing in the forward pass, and they are large, so that their product with d_y overflows.
void poison(Trainer& trainer) {
  const auto fill = [&](const std::string& name, float value) {
    const TensorView view = trainer.session().find_state("h.1." + name).value();
    std::fill_n(reinterpret_cast<float*>(view.data), view.desc.numel(), value);
  };
  for (const char* name : {"ln_1.weight", "ln_1.bias", "attn.c_attn.bias"}) fill(name, 0);
  for (const char* name : {"attn.c_attn.weight", "attn.c_proj.weight"}) fill(name, 1e30f);
}

void restore(Trainer& trainer, const std::vector<std::byte>& state) {
  std::memcpy(trainer.session().arena().data(), state.data(), state.size());
}

class TrainerTest : public testing::Test {
 protected:
  void TearDown() override {
    for (const std::string& folder : folders_) fs::remove_all(folder);
  }

  std::string folder(const std::string& name) {
    folders_.push_back(testing::TempDir() + "/plimsoll_trainer_" + name);
    return folders_.back();
  }

  /// A run that has not begun.
  std::unique_ptr<Trainer> make(const std::string& name, std::vector<std::string> overrides = {}) {
    overrides.push_back("data.train=" + write_tokens());
    overrides.push_back("run.folder=" + folder(name));
    return Trainer::make(try_parse_run_config(kRunFile, "run.toml", overrides).value(), *environment_).value();
  }

  /// A run after two updates.
  std::unique_ptr<Trainer> begin(const std::string& name, const std::vector<std::string>& overrides = {}) {
    auto trainer = make(name, overrides);
    fs::remove_all(folders_.back());
    trainer->start(false, quiet_).value();
    for (int64_t step : {1, 2}) EXPECT_EQ(trainer->step().value().step, step);
    return trainer;
  }

  /// The run as it was saved, except that the samples of one more update count as seen.
  std::unique_ptr<Trainer> resume_one_update_later(Trainer& saved, const std::string& name) {
    saved.save().value();
    TrainingState state = read_training_state(find_latest_checkpoint(saved.config().run.folder).value().folder).value();
    state.sample += saved.samples_per_update();
    auto trainer = make(name);
    fs::remove_all(folders_.back());
    fs::create_directories(folders_.back());
    save_checkpoint(folders_.back(), saved.session().parameters(), saved.session().optimizer_state(), state).value();
    trainer->start(true, quiet_).value();
    return trainer;
  }

  const std::unique_ptr<Environment> environment_ = Environment::make({.threads = 2}).value();
  const std::function<bool(const std::string&, double)> quiet_ = [](const std::string&, double) { return true; };
  std::vector<std::string> folders_;
};

// Case G25: with the policy skip, an update that is not finite is as if its samples had not been there.
TEST_F(TrainerTest, ASkippedUpdateLeavesAllAsItWasAndTheRunGoesOn) {
  const auto trainer = begin("skip", {"on_non_finite=skip"});
  const std::vector<std::byte> before = state_of(*trainer);
  poison(*trainer);
  const std::vector<std::byte> poisoned = state_of(*trainer);
  const StepReport skipped = trainer->step().value();
  EXPECT_TRUE(skipped.is_skipped);
  EXPECT_THAT(skipped.reason, testing::StartsWith("the gradient norm is not finite; the first tensor that is not: "));
  EXPECT_EQ(skipped.step, 2);
  EXPECT_EQ(trainer->step_count(), 2);
  EXPECT_EQ(state_of(*trainer), poisoned);
  restore(*trainer, before);

  const auto control = resume_one_update_later(*begin("control"), "resumed");
  for (const int64_t step : {3, 4, 5}) {
    const StepReport got = trainer->step().value(), want = control->step().value();
    EXPECT_FALSE(got.is_skipped);
    EXPECT_EQ(got.step, step);
    EXPECT_EQ(got.step, want.step);
    EXPECT_EQ(got.lr, want.lr);
    EXPECT_EQ(got.loss, want.loss);
    EXPECT_EQ(got.grad_norm, want.grad_norm);
    EXPECT_EQ(state_of(*trainer), state_of(*control));
  }
}

TEST_F(TrainerTest, StoppingNamesTheFirstTensorWithItsOpAndLayer) {
  const auto trainer = begin("stop");
  poison(*trainer);
  const std::vector<std::byte> poisoned = state_of(*trainer);
  const auto report = trainer->step();
  ASSERT_FALSE(report.ok());
  EXPECT_EQ(report.error().message,
            "update 3 stopped before any weight changed: the gradient norm is not finite; the first tensor that is "
            "not: output 0 of matmul 'h.1.attn.c_attn.grad'; try a lower lr, or on_non_finite = \"skip\"");
  EXPECT_EQ(state_of(*trainer), poisoned);
}

TEST_F(TrainerTest, AResumeByAnotherProgramSaysThatBitsMayDiffer) {
  auto trainer = begin("hash");
  const std::string hash = trainer->plan().train.program().compile_hash;
  EXPECT_FALSE(hash.empty());
  trainer->save().value();
  trainer.reset();
  trainer = make("hash");
  trainer->start(true, quiet_).value();
  EXPECT_THAT(trainer->resume_warnings(), testing::IsEmpty());
  trainer.reset();
  trainer = make("hash", {"train.batch_size=1", "train.accumulate=4"});
  trainer->start(true, quiet_).value();
  EXPECT_THAT(
      trainer->resume_warnings(),
      testing::ElementsAre(
          testing::StartsWith("options changed since the run began: train.batch_size 2 → 1, train.accumulate 2 → 4;"),
          testing::StartsWith("the checkpoint was made by another program (compile hash " + hash + ", now ")));
}

TEST_F(TrainerTest, AResumeNoticesOneTokenThatIsNotWhatItWas) {
  auto trainer = begin("tokens");
  trainer->save().value();
  trainer.reset();
  trainer = make("tokens");
  {
    std::fstream tokens(testing::TempDir() + "/plimsoll_trainer.bin", std::ios::in | std::ios::out | std::ios::binary);
    tokens.seekg(1024);  // behind the header
    const int id = tokens.get();
    tokens.seekp(1024);
    tokens.put(static_cast<char>(id ^ 1));
  }
  const Status resumed = trainer->start(true, quiet_);
  ASSERT_FALSE(resumed.ok());
  EXPECT_EQ(resumed.error().code, ErrorCode::kCorrupt);
  EXPECT_THAT(resumed.error().message, testing::HasSubstr("does not hold the training tokens"));
}

TEST_F(TrainerTest, AResumeWithOtherSettingsIsRefusedBeforeAnythingIsMade) {
  auto trainer = begin("settings");
  trainer->save().value();
  trainer.reset();
  trainer = make("settings", {"train.seed=7"});
  bool prepared = false;
  const auto notice = [&](const std::string&, double) { return prepared = true; };
  const Status resumed = trainer->start(true, notice);
  ASSERT_FALSE(resumed.ok());
  EXPECT_EQ(resumed.error().code, ErrorCode::kInvalidArgument);
  EXPECT_THAT(resumed.error().message, testing::StartsWith("the run began with train.seed = '0', it is now '7'"));
  EXPECT_FALSE(prepared);
}

TEST_F(TrainerTest, StopsAfterTooManySkipsInARow) {
  const auto trainer = begin("skips", {"on_non_finite=skip", "max_skips=2"});
  const std::vector<std::byte> before = state_of(*trainer);
  const auto skip = [&](int count) {
    for (int i = 0; i < count; ++i) EXPECT_TRUE(trainer->step().value().is_skipped);
  };
  poison(*trainer);
  skip(2);
  restore(*trainer, before);
  EXPECT_FALSE(trainer->step().value().is_skipped) << "the count begins anew";
  poison(*trainer);
  skip(2);
  const auto last = trainer->step();
  ASSERT_FALSE(last.ok());
  EXPECT_THAT(last.error().message, testing::HasSubstr("update 4 stopped before any weight changed"));
  EXPECT_THAT(last.error().message, testing::HasSubstr("(3 updates in a row)"));
}

}  // namespace
}  // namespace plimsoll::engine
