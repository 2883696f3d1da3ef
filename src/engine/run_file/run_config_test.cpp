#include "engine/run_file/run_config.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "core/seed.h"
#include "engine/run_file/run_options.h"

namespace plimsoll::engine {
namespace {

const std::string kSmall =
    "[model]\n"
    "name = \"gpt2-124m\"\n"
    "[data]\n"
    "train = \"corpus\"\n"
    "[train]\n"
    "steps = 100\n";

std::string error_of(const std::string& text, const std::vector<std::string>& overrides = {}) {
  const Result<RunConfig> config = try_parse_run_config(text, "run.toml", overrides);
  return config.ok() ? "no error" : config.error().message;
}

RunConfig parse(const std::string& text, const std::vector<std::string>& overrides = {}) {
  Result<RunConfig> config = try_parse_run_config(text, "some/small.toml", overrides);
  EXPECT_TRUE(config.ok()) << config.error().message;
  return config.ok() ? *config : RunConfig{};
}

TEST(RunConfig, TakesDefaultsForWhatIsNotGiven) {
  const RunConfig config = parse(kSmall);
  EXPECT_EQ(config.model.name, "gpt2-124m");
  EXPECT_EQ(config.data.train, std::vector<std::string>{"corpus"});
  EXPECT_EQ(config.train.steps, 100);
  EXPECT_FALSE(config.train.epochs);
  EXPECT_EQ(config.train.batch_size, 8);
  EXPECT_EQ(config.optimizer.name, "adamw");
  EXPECT_EQ(config.optimizer.weight_decay, 0.01);
  EXPECT_FALSE(config.memory.ram);
  EXPECT_EQ(config.run.folder, "runs/small");
}

TEST(RunConfig, ReadsEveryType) {
  const RunConfig config = parse(
      "model = { name = 'gpt2', n_embd = 64 }\n"
      "[data]\ntrain = ['a.txt', 'b']\nseparator = ''\n"
      "[train]\nepochs = 2\nseed = 9_007_199_254_740_992\ngradient_accumulation_steps = 4\n"
      "[optimizer]\nname = 'sgd'\nlr = 1\nmomentum = 0.9\nnesterov = true\nmax_grad_norm = 1.0\n"
      "[memory]\nram = '1.5 GiB'\n");
  EXPECT_EQ(config.model.n_embd, 64);
  EXPECT_EQ(config.data.train, (std::vector<std::string>{"a.txt", "b"}));
  EXPECT_EQ(config.data.separator, "");
  EXPECT_EQ(config.train.epochs, 2);
  EXPECT_EQ(config.train.seed, kLargestSeed);
  EXPECT_EQ(config.train.accumulate, 4);
  EXPECT_EQ(config.optimizer.lr, 1.0);
  EXPECT_TRUE(config.optimizer.nesterov);
  EXPECT_EQ(config.optimizer.clip_norm, 1.0);
  EXPECT_EQ(config.memory.ram, Bytes{3LL << 29});
}

TEST(RunConfig, WeightDecayDefaultsAsInPyTorch) {
  EXPECT_EQ(parse(kSmall + "[optimizer]\nname = 'adam'").optimizer.weight_decay, 0);
  EXPECT_EQ(parse(kSmall + "[optimizer]\nname = 'adam'\nweight_decay = 0.1").optimizer.weight_decay, 0.1);
}

TEST(RunConfig, OverridesReplaceWhatTheFileSays) {
  const RunConfig config =
      parse(kSmall, {"train.batch_size=16", "lr=3e-4", "betas=0.9,0.95", "model.name=bert-base", "data.train=a b.txt",
                     "max_grad_norm=1", "ram=2048M", "separator=\"\\n\"", "batch_size=32", "amsgrad=true"});
  EXPECT_EQ(config.train.batch_size, 32);
  EXPECT_EQ(config.optimizer.lr, 3e-4);
  EXPECT_EQ(config.optimizer.betas, (std::array<double, 2>{0.9, 0.95}));
  EXPECT_EQ(config.model.name, "bert-base");
  EXPECT_EQ(config.data.train, std::vector<std::string>{"a b.txt"});
  EXPECT_EQ(config.optimizer.clip_norm, 1);
  EXPECT_EQ(config.memory.ram, mebibytes(2048));
  EXPECT_EQ(config.data.separator, "\n");
  EXPECT_TRUE(config.optimizer.amsgrad);
}

TEST(RunConfig, WhatAnOverrideLeavesWithoutUseIsForgotten) {
  const std::string file =
      "[model]\nname = 'gpt2'\n[data]\ntrain = 'text'\ntokenizer = 'sentencepiece'\nvocab_size = 500\n[train]\nsteps = "
      "1\n"
      "[optimizer]\nbetas = [0.5, 0.6]\n";
  const std::vector<std::string> overrides{"optimizer.name=sgd", "data.tokenizer=bytes"};
  const RunConfig config = try_parse_run_config(file, "run.toml", overrides).value();
  EXPECT_FALSE(config.origins.contains("optimizer.betas"));
  EXPECT_EQ(config.optimizer.betas, RunConfig().optimizer.betas);
  EXPECT_EQ(config.data.vocab_size, RunConfig().data.vocab_size);
  // What had no use before, or is given on the command line too, is refused as ever.
  const std::vector<std::string> both{"optimizer.name=sgd", "optimizer.betas=0.1,0.2"};
  EXPECT_FALSE(try_parse_run_config(file, "run.toml", both).ok());
  EXPECT_FALSE(try_parse_run_config(file + "momentum = 0.9\n", "run.toml", std::vector<std::string>{"lr=1"}).ok());
}

TEST(RunConfig, ChangedOptionsAreNamedWithBothValues) {
  RunConfig then, now;
  then.optimizer.lr = 0.002;
  now.optimizer.lr = 0.009;
  now.optimizer.name = "sgd";
  EXPECT_TRUE(changed_options(then, then).empty());
  const auto changes = changed_options(then, now);
  EXPECT_NE(std::ranges::find(changes, "optimizer.lr 0.002 → 0.009"), changes.end());
  EXPECT_NE(std::ranges::find(changes, "optimizer.name \"adamw\" → \"sgd\""), changes.end());
}

TEST(RunConfig, EpochsOnTheCommandLineReplaceStepsInTheFile) {
  const RunConfig config = parse(kSmall, {"epochs=3"});
  EXPECT_FALSE(config.train.steps);
  EXPECT_EQ(config.train.epochs, 3);
  EXPECT_EQ(error_of(kSmall, {"epochs=3", "steps=5"}),
            "--set epochs=3: [train] epochs is given beside steps; give one of them");
}

TEST(RunConfig, SizesMayHaveAnyUnit) {
  const auto ram = [](const std::string& value) { return parse(kSmall + "[memory]\nram = " + value).memory.ram; };
  EXPECT_EQ(ram("'2GiB'"), mebibytes(2048));
  EXPECT_EQ(ram("'2GB'"), Bytes{2'000'000'000});
  EXPECT_EQ(ram("'2048M'"), mebibytes(2048));
  EXPECT_EQ(ram("1000"), Bytes{1000});
  EXPECT_EQ(ram("'1000'"), Bytes{1000});
  EXPECT_EQ(ram("'auto'"), std::nullopt);
}

struct Refusal {
  std::string more;  ///< put behind kSmall, whose [train] section is open, from line 7 on
  std::string message;
};

TEST(RunConfig, RefusesWithFileLineKeyAndWhatIsAllowed) {
  const std::vector<Refusal> refusals = {
      {"batch_size = \"many\"", "run.toml:7: [train] batch_size is \"many\"; expected a whole number ≥ 1"},
      {"\n\nbatch_size = 0", "run.toml:9: [train] batch_size is 0; expected a whole number ≥ 1"},
      {"batch_size = -8", "run.toml:7: [train] batch_size is -8; expected a whole number ≥ 1"},
      {"batch_size = 8.0", "run.toml:7: [train] batch_size is 8.0; expected a whole number ≥ 1"},
      {"batch_size = 4_294_967_296",
       "run.toml:7: [train] batch_size is 4294967296; expected a whole number ≥ 1 and ≤ 2147483647"},
      {"batch_size = [8]", "run.toml:7: [train] batch_size is [8]; expected a whole number ≥ 1"},
      {"batch_size = { a = 1 }", "run.toml:7: [train] batch_size is a table; expected a whole number ≥ 1"},
      {"batch_size = 65536\naccumulate = 65536",
       "run.toml:7: [train] batch_size × accumulate is 65536 × 65536; expected a product ≤ 2147483647"},
      {"epochs = 1", "run.toml:7: [train] epochs is given beside steps; give one of them"},
      {"accumulate = 2\ngradient_accumulation_steps = 2",
       "run.toml:8: [train] 'accumulate' is given twice; 'gradient_accumulation_steps' is another name for it"},
      {"on_non_finite = 'skp'",
       "run.toml:7: [train] on_non_finite is \"skp\"; expected one of \"stop\", \"skip\"; did "
       "you mean 'skip'?"},
      {"max_skips = 3",
       "run.toml:7: [train] max_skips has no use here: it needs on_non_finite skip; remove it, or "
       "change on_non_finite"},
      {"seed = 9_007_199_254_740_993",
       "run.toml:7: [train] seed is 9007199254740993; expected a whole number ≥ 0 and ≤ 9007199254740992"},
      {"bs = 3", "run.toml:7: [train] has no key 'bs'; did you mean 'batch_size'?"},
      {"batch = 3", "run.toml:7: [train] has no key 'batch'; did you mean 'batch_size'?"},
      {"lr = 3", "run.toml:7: [train] has no key 'lr'; it belongs to [optimizer]"},
      {"gradient_clip_val = 3",
       "run.toml:7: [train] has no key 'gradient_clip_val'; did you mean 'clip_norm' in "
       "[optimizer]?"},
      {"batch_sise = 3", "run.toml:7: [train] has no key 'batch_sise'; did you mean 'batch_size'?"},
      {"qqqqqqqqqqqqqqqqqqqqqqqq = 3", "run.toml:7: [train] has no key 'qqqqqqqqqqqqqqqqqqqqqqqq'"},
      {"[optim]\nlr = 1",
       "run.toml:7: there is no section [optim]; did you mean 'optimizer'?; sections are model, data, "
       "train, optimizer, schedule, memory, run"},
      {"[optimizer]\nname = 'adam w'",
       "run.toml:8: [optimizer] name is \"adam w\"; expected one of \"sgd\", \"adam\", "
       "\"adamw\"; did you mean 'adamw'?"},
      {"[optimizer]\nlr = 0", "run.toml:8: [optimizer] lr is 0; expected a number > 0"},
      {"[optimizer]\nlr = '" + std::string(78, 'a') + "é'",
       "run.toml:8: [optimizer] lr is \"" + std::string(78, 'a') + "…; expected a number > 0"},
      {"[optimizer]\nlr = nan", "run.toml:8: [optimizer] lr is nan; expected a number > 0"},
      {"[optimizer]\nlr = inf", "run.toml:8: [optimizer] lr is inf; expected a number > 0"},
      {"[optimizer]\nlr = '1e-3'", "run.toml:8: [optimizer] lr is \"1e-3\"; expected a number > 0"},
      {"[optimizer]\nbetas = [0.9, 1.0]",
       "run.toml:8: [optimizer] betas is [0.9, 1.0]; expected a list of two "
       "numbers, each ≥ 0 and < 1"},
      {"[optimizer]\nbetas = 0.9",
       "run.toml:8: [optimizer] betas is 0.9; expected a list of two numbers, each ≥ 0 and "
       "< 1"},
      {"[optimizer]\nmomentum = 0.9",
       "run.toml:8: [optimizer] momentum has no use here: it needs name sgd; remove it, "
       "or change name"},
      {"[optimizer]\nname = 'sgd'\nnesterov = true",
       "run.toml:9: [optimizer] nesterov needs momentum above 0 and dampening 0"},
      {"[schedule]\nname = 'inverse_sqrt'",
       "run.toml:8: [schedule] name is \"inverse_sqrt\", which needs warmup_steps ≥ 1"},
      {"[schedule]\nwarmup_steps = 101",
       "run.toml:8: [schedule] warmup_steps is 101; expected at most 100 of the 100 [train] steps"},
      {"[schedule]\nname = 'cosine'\nwarmup_steps = 100",
       "run.toml:9: [schedule] warmup_steps is 100; expected at most 99 of the 100 [train] steps"},
      {"[schedule]\nname = 'cosine'\nmin_lr = 0.5",
       "run.toml:9: [schedule] min_lr is 0.5; expected at most [optimizer] lr, 0.001"},
      {"[memory]\nram = '2 apples'",
       "run.toml:8: [memory] ram is \"2 apples\"; expected \"auto\", or a size above 0: "
       "bytes, or a number and a unit such as \"2GiB\""},
      {"[memory]\nram = 0",
       "run.toml:8: [memory] ram is 0; expected \"auto\", or a size above 0: bytes, or a number "
       "and a unit such as \"2GiB\""},
      {"[memory]\nram = '-1GiB'",
       "run.toml:8: [memory] ram is \"-1GiB\"; expected \"auto\", or a size above 0: bytes, "
       "or a number and a unit such as \"2GiB\""},
      {"[memory]\nvram = '2GiB'", "run.toml:8: [memory] has no key 'vram'; did you mean 'ram'?"},
      {"[run]\nthreads = 5000", "run.toml:8: [run] threads is 5000; expected a whole number in 0..1024"},
      {"[run]\ndevice = 'cuda'", "run.toml:8: [run] device is \"cuda\"; expected one of \"cpu\", \"reference\""},
  };
  for (const Refusal& refusal : refusals) EXPECT_EQ(error_of(kSmall + refusal.more), refusal.message) << refusal.more;
}

TEST(RunConfig, RefusesWhatIsMissingOrNoTable) {
  const std::vector<Refusal> refusals = {
      {"", "run.toml: [model] name is missing; expected text that is not empty"},
      {"lr = 1\n", "run.toml:1: 'lr' stands in no section; it belongs to [optimizer]"},
      {"[model]\nname = 'x'\n[data]\ntrain = []\n[train]\nsteps = 1",
       "run.toml:4: [data] train is empty; expected at least one path"},
      {"[model]\nname = 'x'\n[data]\ntrain = 'a'\n", "run.toml: [train] steps or epochs is missing; give one of them"},
      {"[model]\nname = ''\n", "run.toml:2: [model] name is \"\"; expected text that is not empty"},
      {"[model]\nname = \"a\\u0000b\"\n",
       "run.toml:2: [model] name is \"a\\u0000b\"; expected text that is not empty without a NUL character"},
      {"[model]\nname = 'gpt2'\n[data]\ntrain = 'a'\nvocab_size = 512\n[train]\nsteps = 1",
       "run.toml:5: [data] vocab_size has no use here: it needs tokenizer sentencepiece; remove it, or change "
       "tokenizer"},
      {"[model]\nname = 'gpt2'\nblock_size = 8\n[data]\ntrain = 'a'\nseq_len = 16\n[train]\nsteps = 1",
       "run.toml:6: [data] seq_len is 16; expected at most the model's block_size, 8"},
      {"[model]\nname = 'x'\n[data]\nkind = 'tokens'\ntrain = 'a'\ntokenizer = 'sentencepiece'\n[train]\nsteps = 1",
       "run.toml:6: [data] tokenizer is \"sentencepiece\", but token files hold no text to train one on; give the path "
       "of the .model file that made the tokens"},
      {"[model]\nname = 'x'\n[data]\ntrain = 'a'\ntokenizer = 'none'\n[train]\nsteps = 1",
       "run.toml:5: [data] tokenizer is \"none\", but text needs one; give \"bytes\", \"sentencepiece\", or the path "
       "of "
       "a .model file"},
      {"[model]\nname = 'x'\n[data]\ntrain = 'a'\nvalid = 'b'\nvalidation_fraction = 0.1\n[train]\nsteps = 1",
       "run.toml:6: [data] validation_fraction has no use here: it needs an empty valid; remove it, or change valid"},
  };
  for (const Refusal& refusal : refusals) EXPECT_EQ(error_of(refusal.more), refusal.message) << refusal.more;
}

TEST(RunConfig, NamesTheLineOfBrokenToml) {
  EXPECT_TRUE(error_of(kSmall + "batch_size = \n").starts_with("run.toml:7: "));
  EXPECT_TRUE(error_of(kSmall + "batch_size = 99999999999999999999\n").starts_with("run.toml:7: "));
  EXPECT_TRUE(error_of(kSmall + "steps = 4\n").starts_with("run.toml:7: "));
  EXPECT_TRUE(error_of(std::string("[model]\nname = 'a\0b'\n", 21)).starts_with("run.toml:2: "));
}

TEST(RunConfig, RefusesOverridesByTheirText) {
  const std::vector<Refusal> refusals = {
      {"batch_size", "--set batch_size: expected key=value, such as train.batch_size=16"},
      {"batch_size=many", "--set batch_size=many: [train] batch_size is \"many\"; expected a whole number ≥ 1"},
      {"batch_size=1\nsteps=2",
       "--set batch_size=1 steps=2: [train] batch_size is \"1\\nsteps=2\"; expected a whole number ≥ 1"},
      {"train.bs=1", "--set train.bs=1: [train] has no key 'bs'; did you mean 'batch_size'?"},
      {"optimiser.lr=1",
       "--set optimiser.lr=1: there is no section [optimiser]; did you mean 'optimizer'?; sections "
       "are model, data, train, optimizer, schedule, memory, run"},
      {"name=adam", "--set name=adam: 'name' stands in several sections; did you mean 'model.name'?"},
      {"bs=1", "--set bs=1: there is no key 'bs'; did you mean 'batch_size' in [train]?"},
      {"ram=2 apples",
       "--set ram=2 apples: [memory] ram is \"2 apples\"; expected \"auto\", or a size above 0: bytes, "
       "or a number and a unit such as \"2GiB\""},
  };
  for (const Refusal& refusal : refusals) EXPECT_EQ(error_of(kSmall, {refusal.more}), refusal.message);
}

TEST(RunConfig, PrintedConfigReadsBackTheSame) {
  const RunConfig config = parse(
      kSmall +
          "log_every = 7\nsample_prompt = \"say \\\"hi\\\"\\u0001\\n\"\n[optimizer]\nlr = 0.1\nbetas = [0, 1e-300]\n"
          "[memory]\nram = '3MiB'\n",
      {"data.train=['a\\b', 'ü']", "schedule.name=cosine", "min_lr=1e-5"});
  const std::string text = to_toml(config);
  EXPECT_EQ(to_toml(parse(text)), text);
  EXPECT_NE(text.find("ram = \"3MiB\"\n"), std::string::npos);
  EXPECT_NE(text.find("train = [\"a\\\\b\", \"ü\"]\n"), std::string::npos);
  EXPECT_NE(text.find("folder = \"runs/small\"\n"), std::string::npos);
  EXPECT_EQ(text.find("momentum"), std::string::npos) << "adamw has no momentum";
  EXPECT_EQ(text.find("epochs"), std::string::npos);
}

TEST(RunConfig, PrintsTheFractionOnlyWhereNoValidationDataAreNamed) {
  EXPECT_NE(to_toml(parse(kSmall)).find("validation_fraction = 0.05\n"), std::string::npos);
  const std::string text = to_toml(parse(kSmall, {"data.valid=b.txt"}));
  EXPECT_EQ(text.find("validation_fraction"), std::string::npos);
  EXPECT_EQ(to_toml(parse(text)), text);
}

TEST(RunConfig, TokenFilesHaveNoTokenizerUnlessOneIsNamed) {
  const std::string tokens = "[model]\nname = 'gpt2'\n[data]\nkind = 'tokens'\ntrain = 'a.bin'\n[train]\nsteps = 1\n";
  EXPECT_EQ(parse(tokens).data.tokenizer, "none");
  EXPECT_EQ(parse(to_toml(parse(tokens))).data.tokenizer, "none");
  EXPECT_EQ(parse(tokens, {"data.tokenizer=x.model", "train.sample_tokens=3"}).data.tokenizer, "x.model");
  EXPECT_EQ(error_of(tokens + "sample_tokens = 3\n"),
            "run.toml:8: [train] sample_tokens needs a tokenizer to write text with; give the path of the .model file "
            "that made the tokens as [data] tokenizer, or leave sample_tokens out");
  EXPECT_EQ(parse(kSmall).data.tokenizer, "bytes");
}

TEST(RunConfig, MissingFileAndFolderAreSaid) {
  EXPECT_EQ(try_load_run_config("/nowhere/run.toml").error().message, "there is no run file '/nowhere/run.toml'");
  EXPECT_EQ(try_load_run_config("/tmp").error().message,
            "'/tmp' is a folder; expected a run file, such as /tmp/run.toml");
}

TEST(RunOptions, NamesAndHintsAreUnambiguousInASection) {
  std::map<std::string, int> seen;
  for (const RunOption& option : run_options()) {
    ++seen[option.section + "." + option.key];
    for (const std::string& alias : option.aliases) ++seen[option.section + "." + alias];
    for (const std::string& hint : option.hints) ++seen[option.section + "." + hint];
    EXPECT_TRUE(option.doc.ends_with('.')) << option.key;
  }
  for (const auto& [name, count] : seen) EXPECT_EQ(count, 1) << name;
}

TEST(RunOptions, DocsPageIsUpToDate) {
  const std::string path = std::string(PLIMSOLL_DOCS) + "/run_file.md";
  if (std::getenv("PLIMSOLL_WRITE_DOCS") != nullptr) std::ofstream(path) << document_options();
  std::ostringstream page;
  page << std::ifstream(path).rdbuf();
  EXPECT_TRUE(page.str() == document_options())
      << path
      << " differs from the option table; write it anew with PLIMSOLL_WRITE_DOCS=1 ctest --preset dev -R engine";
}

}  // namespace
}  // namespace plimsoll::engine
