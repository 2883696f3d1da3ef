#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/bytes.h"
#include "core/result.h"

namespace plimsoll::engine {

/// What a run file says, with defaults where it says nothing. engine/run_file/run_options.h has units, ranges and
/// meaning of every member; members are named as the keys.
struct RunConfig {
  struct Model {
    std::string name;
    int64_t vocab_size = 0;
    int64_t n_layer = 0;
    int64_t n_head = 0;
    int64_t n_embd = 0;
    int64_t block_size = 0;
    double dropout = 0;
  };
  struct Data {
    std::string kind = "text";
    std::vector<std::string> train;
    std::vector<std::string> valid;
    double validation_fraction = 0.05;
    std::string separator = "\f";
    std::string tokenizer = "bytes";
    int64_t vocab_size = 2048;
    std::string token_dtype = "auto";
    int64_t seq_len = 0;
  };
  struct Train {
    int64_t batch_size = 8;
    int64_t accumulate = 1;
    std::optional<int64_t> steps;   ///< exactly one of these two is set
    std::optional<int64_t> epochs;  ///< …
    int64_t seed = 0;
    int64_t eval_every = 0;
    int64_t eval_batches = 0;
    int64_t log_every = 10;
    int64_t checkpoint_every = 0;
    int64_t keep_checkpoints = 2;
    std::string on_non_finite = "stop";
    int64_t max_skips = 10;
    int64_t sample_tokens = 0;
    std::string sample_prompt;
  };
  struct Optimizer {
    std::string name = "adamw";
    double lr = 1e-3;
    std::array<double, 2> betas{0.9, 0.999};
    double eps = 1e-8;
    double weight_decay = 0.01;
    double momentum = 0;
    double dampening = 0;
    bool nesterov = false;
    bool amsgrad = false;
    double clip_norm = 0;
  };
  struct Schedule {
    std::string name = "constant";
    int64_t warmup_steps = 0;
    double min_lr = 0;
  };
  struct Memory {
    std::optional<Bytes> ram;  ///< nothing: "auto"
  };
  struct Run {
    std::string folder;
    int64_t threads = 0;
    std::string device = "cpu";
    std::string fusions = "all";
  };

  Model model;
  Data data;
  Train train;
  Optimizer optimizer;
  Schedule schedule;
  Memory memory;
  Run run;

  /// Where each option that was given stands: "train.batch_size" to "run.toml:12" or "--set train.batch_size=16".
  std::map<std::string, std::string> origins;

  /// The head of a message about an option: `run.toml:12: [train] batch_size`, or without place where it is a default.
  std::string at(const std::string& section, const std::string& key) const;
};

/// Reads a run file and puts `overrides` ("train.batch_size=16", or "batch_size=16" where one section alone has the
/// key; a value in TOML, or plain text) over it. What the file says and has no use beside an override is forgotten.
/// Relative paths stay as they are, so they mean the working directory.
///
/// Errors: io, for a file that cannot be read; invalid_argument, one line with file, line and key, for what is no TOML,
/// unknown sections and keys (with the nearest that exists), wrong types, values out of range, options that the chosen
/// optimizer, schedule, data or model has no use for, and required options that are missing.
Result<RunConfig> try_load_run_config(const std::string& path, std::span<const std::string> overrides = {});

/// The same for the text of a run file; `name` stands for the file in messages and names the default run folder.
Result<RunConfig> try_parse_run_config(const std::string& text, const std::string& name,
                                       std::span<const std::string> overrides = {});

/// The options that differ, e.g. "optimizer.lr 0.002 → 0.009", in the order of the option table.
std::vector<std::string> changed_options(const RunConfig& then, const RunConfig& now);

/// Every option in force as a run file that reads back to the same config.
std::string to_toml(const RunConfig& config);

}  // namespace plimsoll::engine
