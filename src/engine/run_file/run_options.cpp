#include "engine/run_file/run_options.h"

#include <limits>

#include "core/seed.h"
#include "engine/environment/environment.h"
#include "models/sizes.h"

namespace plimsoll::engine {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr RealRange kNotNegative{0, kInfinity, true, false};
constexpr RealRange kPositive{0, kInfinity, false, false};
constexpr RealRange kShare{0, 1, true, false};

// Captureless lambdas that take one member out of a config, so that each option names its member once.
#define PLIMSOLL_MEMBER(path) [](RunConfig& c) -> auto& { return c.path; }

std::vector<RunOption> model_options() {
  const std::string section = "model";
  return {
      {.section = section,
       .key = "name",
       .type = TextOption{PLIMSOLL_MEMBER(model.name)},
       .doc = "A model that `plimsoll models` lists, such as gpt2-124m or bert-base; or gpt2 or bert with the sizes "
              "below.",
       .is_required = true,
       .hints = {"model", "arch", "architecture", "type", "model_type", "preset"}},
      {.section = section,
       .key = "vocab_size",
       .type = WholeOption{PLIMSOLL_MEMBER(model.vocab_size)},
       .doc = "Rows of the embedding. 0: what the tokenizer has, or what the named model was published with.",
       .hints = {"vocabulary_size", "n_vocab", "num_tokens"}},
      {.section = section,
       .key = "n_layer",
       .type = WholeOption{PLIMSOLL_MEMBER(model.n_layer), 0, models::kMostLayers},
       .doc = "Transformer layers. 0: those of the named model.",
       .hints = {"layers", "n_layers", "num_layers", "num_hidden_layers", "depth"}},
      {.section = section,
       .key = "n_head",
       .type = WholeOption{PLIMSOLL_MEMBER(model.n_head), 0, models::kMostWidth},
       .doc = "Attention heads of a layer; n_embd is a multiple of it. 0: those of the named model.",
       .hints = {"heads", "n_heads", "num_heads", "num_attention_heads"}},
      {.section = section,
       .key = "n_embd",
       .type = WholeOption{PLIMSOLL_MEMBER(model.n_embd), 0, models::kMostWidth},
       .doc = "Width of a token's vector. 0: that of the named model.",
       .hints = {"d_model", "hidden_size", "embed_dim", "embedding_size", "width", "dim", "n_embed"}},
      {.section = section,
       .key = "block_size",
       .type = WholeOption{PLIMSOLL_MEMBER(model.block_size)},
       .doc = "The longest sequence that the model can take, in tokens. 0: that of the named model.",
       .hints = {"context_length", "n_ctx", "n_positions", "max_position_embeddings", "max_seq_len", "context"}},
      {.section = section,
       .key = "dropout",
       .type = RealOption{PLIMSOLL_MEMBER(model.dropout), kShare},
       .doc = "Share of embeddings, attention weights and what a layer adds that training sets to zero. 0: none.",
       .hints = {"dropout_p", "resid_pdrop", "attn_pdrop", "hidden_dropout_prob", "attention_probs_dropout_prob", "p"}},
  };
}

std::vector<RunOption> data_options() {
  const std::string section = "data";
  return {
      {.section = section,
       .key = "kind",
       .type = ChoiceOption{PLIMSOLL_MEMBER(data.kind), {"text", "tokens"}},
       .doc = "What the files hold: raw text, or token ids (`.bin`, with or without llm.c's header).",
       .hints = {"type", "format", "dataset"}},
      {.section = section,
       .key = "train",
       .type = PathsOption{PLIMSOLL_MEMBER(data.train)},
       .doc = "What to train on: files, or folders of which every .txt below is taken. Relative paths start from the "
              "working directory.",
       .is_required = true,
       .hints = {"path", "file", "files", "train_file", "train_data", "data", "text", "input"}},
      {.section = section,
       .key = "valid",
       .type = PathsOption{PLIMSOLL_MEMBER(data.valid)},
       .doc = "What to evaluate on. Empty: a part of `train` is set apart.",
       .hints = {"val", "validation", "valid_file", "validation_file", "test", "eval"}},
      {.section = section,
       .key = "validation_fraction",
       .type = RealOption{PLIMSOLL_MEMBER(data.validation_fraction), kShare},
       .doc =
           "Share of `train`, at its end, that is set apart to evaluate on: of the bytes of text, cut where a document "
           "ends, or of the ids of a token file. 0: none, no evaluation.",
       .hints = {"val_fraction", "valid_fraction", "validation_split", "val_split"},
       .condition = {"valid"}},
      {.section = section,
       .key = "separator",
       .type = TextOption{PLIMSOLL_MEMBER(data.separator), true},
       .doc =
           "What ends a document in a text file: validation text is cut off there, and it is put between files that do "
           "not end with it.",
       .hints = {"delimiter", "document_separator", "sep"},
       .condition = {"kind", {"text"}}},
      {.section = section,
       .key = "tokenizer",
       .type = TextOption{PLIMSOLL_MEMBER(data.tokenizer)},
       .doc = "`bytes`: each byte is a token. `sentencepiece`: a model is trained on the training text first. `none`: "
              "token files train without, but then no text is generated. Else the path of a sentencepiece `.model` "
              "file.",
       .hints = {"tokeniser", "tokenizer_name", "tokenizer_path", "encoding"},
       .default_note = "`\"bytes\"` for text, `\"none\"` for token files"},
      {.section = section,
       .key = "vocab_size",
       .type = WholeOption{PLIMSOLL_MEMBER(data.vocab_size), 300, 1 << 20},
       .doc = "Pieces of the sentencepiece model that is trained, the 256 bytes among them.",
       .hints = {"pieces", "vocabulary_size"},
       .condition = {"tokenizer", {"sentencepiece"}}},
      {.section = section,
       .key = "token_dtype",
       .type = ChoiceOption{PLIMSOLL_MEMBER(data.token_dtype), {"auto", "u16", "u32"}},
       .doc = "How wide the ids in a token file are. `auto`: what its header says, else what the vocabulary needs.",
       .hints = {"dtype", "token_type"},
       .condition = {"kind", {"tokens"}}},
      {.section = section,
       .key = "seq_len",
       .type = WholeOption{PLIMSOLL_MEMBER(data.seq_len)},
       .doc = "Tokens of a training sample. 0: the model's block_size.",
       .hints = {"seq", "sequence_length", "seq_length", "max_seq_len", "max_length", "context_length"}},
  };
}

std::vector<RunOption> train_options() {
  const std::string section = "train";
  return {
      {.section = section,
       .key = "batch_size",
       .type = WholeOption{PLIMSOLL_MEMBER(train.batch_size), 1},
       .doc = "Samples that go through the model at once; an update takes batch_size × accumulate of them.",
       .hints = {"batch", "bs", "batchsize", "per_device_train_batch_size", "micro_batch_size", "train_batch_size"}},
      {.section = section,
       .key = "accumulate",
       .type = WholeOption{PLIMSOLL_MEMBER(train.accumulate), 1},
       .doc = "Batches whose gradients add up before an update; the mean is over all their valid tokens.",
       .aliases = {"gradient_accumulation_steps"},
       .hints = {"accumulation", "accumulation_steps", "grad_accum", "accumulate_grad_batches", "grad_accumulation"}},
      {.section = section,
       .key = "steps",
       .type = OptionalWholeOption{PLIMSOLL_MEMBER(train.steps)},
       .doc = "Updates of the whole run. Either this or `epochs`.",
       .hints = {"max_steps", "max_iters", "iterations", "num_steps", "iters", "train_steps"},
       .default_note = "one of both"},
      {.section = section,
       .key = "epochs",
       .type = OptionalWholeOption{PLIMSOLL_MEMBER(train.epochs)},
       .doc = "Passes over the training data of the whole run. Either this or `steps`.",
       .hints = {"max_epochs", "num_epochs", "num_train_epochs", "n_epochs", "epoch"},
       .default_note = "one of both"},
      {.section = section,
       .key = "seed",
       .type = WholeOption{PLIMSOLL_MEMBER(train.seed), 0, kLargestSeed},
       .doc = "Initial weights, the order of samples and dropout are functions of it.",
       .hints = {"random_seed", "manual_seed", "rng_seed"}},
      {.section = section,
       .key = "eval_every",
       .type = WholeOption{PLIMSOLL_MEMBER(train.eval_every)},
       .doc = "Updates between two evaluations. 0: only at the end.",
       .hints = {"eval_interval", "eval_steps", "val_check_interval", "evaluate_every", "valid_every"}},
      {.section = section,
       .key = "eval_batches",
       .type = WholeOption{PLIMSOLL_MEMBER(train.eval_batches)},
       .doc = "Batches of an evaluation during the run. 0: all; the evaluation at the end always takes all.",
       .hints = {"eval_iters", "limit_val_batches", "eval_steps_max"}},
      {.section = section,
       .key = "log_every",
       .type = WholeOption{PLIMSOLL_MEMBER(train.log_every), 1},
       .doc = "Updates between two lines of metrics.jsonl.",
       .hints = {"log_interval", "logging_steps", "log_every_n_steps", "print_every"}},
      {.section = section,
       .key = "checkpoint_every",
       .type = WholeOption{PLIMSOLL_MEMBER(train.checkpoint_every)},
       .doc = "Updates between two checkpoints. 0: only at the end.",
       .hints = {"save_every", "save_steps", "save_interval", "checkpoint_interval", "every_n_train_steps"}},
      {.section = section,
       .key = "keep_checkpoints",
       .type = WholeOption{PLIMSOLL_MEMBER(train.keep_checkpoints), 1},
       .doc = "Checkpoints to keep; older ones are removed once a later one is whole.",
       .hints = {"save_total_limit", "save_top_k", "max_checkpoints", "keep_last"}},
      {.section = section,
       .key = "on_non_finite",
       .type = ChoiceOption{PLIMSOLL_MEMBER(train.on_non_finite), {"stop", "skip"}},
       .doc = "What a loss or gradient that is not finite does: end the run, or leave that update out.",
       .hints = {"on_nan", "nan_policy", "skip_non_finite", "detect_anomaly", "terminate_on_nan"}},
      {.section = section,
       .key = "max_skips",
       .type = WholeOption{PLIMSOLL_MEMBER(train.max_skips), 1},
       .doc = "Updates in a row that may be left out before the run ends after all.",
       .hints = {"max_nan_skips", "skips"},
       .condition = {"on_non_finite", {"skip"}}},
      {.section = section,
       .key = "sample_tokens",
       .type = WholeOption{PLIMSOLL_MEMBER(train.sample_tokens)},
       .doc = "Tokens of the text that is generated at the end. 0: no text.",
       .hints = {"max_new_tokens", "sample_length", "num_samples"}},
      {.section = section,
       .key = "sample_prompt",
       .type = TextOption{PLIMSOLL_MEMBER(train.sample_prompt), true},
       .doc = "What the generated text starts with.",
       .hints = {"prompt", "start"}},
  };
}

std::vector<RunOption> optimizer_options() {
  const std::string section = "optimizer";
  const OptionCondition for_sgd{"name", {"sgd"}};
  const OptionCondition for_adam{"name", {"adam", "adamw"}};
  return {
      {.section = section,
       .key = "name",
       .type = ChoiceOption{PLIMSOLL_MEMBER(optimizer.name), {"sgd", "adam", "adamw"}},
       .doc = "The update rule, as PyTorch defines it.",
       .hints = {"optimizer", "type", "optim", "algorithm"}},
      {.section = section,
       .key = "lr",
       .type = RealOption{PLIMSOLL_MEMBER(optimizer.lr), kPositive},
       .doc = "Learning rate, after warm-up.",
       .aliases = {"learning_rate"},
       .hints = {"max_lr", "base_lr", "step_size"}},
      {.section = section,
       .key = "betas",
       .type = RealPairOption{PLIMSOLL_MEMBER(optimizer.betas), kShare},
       .doc = "Decay of the two moments.",
       .hints = {"beta", "beta1", "beta2", "adam_beta1", "adam_beta2"},
       .condition = for_adam},
      {.section = section,
       .key = "eps",
       .type = RealOption{PLIMSOLL_MEMBER(optimizer.eps), kPositive},
       .doc = "Added to the root of the second moment.",
       .hints = {"epsilon", "adam_epsilon"},
       .condition = for_adam},
      {.section = section,
       .key = "weight_decay",
       .type = RealOption{PLIMSOLL_MEMBER(optimizer.weight_decay), kNotNegative},
       .doc =
           "Decay of weights, but not of norms and biases: decoupled for adamw, added to the gradient for the others.",
       .hints = {"wd", "decay", "l2"},
       .default_note = "0.01 for adamw, else 0.0"},
      {.section = section,
       .key = "momentum",
       .type = RealOption{PLIMSOLL_MEMBER(optimizer.momentum), kShare},
       .doc = "Share of the last update's direction that is kept. 0: none, and no memory for it.",
       .hints = {"mom", "mu"},
       .condition = for_sgd},
      {.section = section,
       .key = "dampening",
       .type = RealOption{PLIMSOLL_MEMBER(optimizer.dampening), {0, 1}},
       .doc = "Share of the gradient that does not enter the momentum.",
       .condition = for_sgd},
      {.section = section,
       .key = "nesterov",
       .type = TruthOption{PLIMSOLL_MEMBER(optimizer.nesterov)},
       .doc = "Nesterov's momentum; needs momentum above 0 and dampening 0.",
       .condition = for_sgd},
      {.section = section,
       .key = "amsgrad",
       .type = TruthOption{PLIMSOLL_MEMBER(optimizer.amsgrad)},
       .doc = "Divide by the largest second moment so far; one more value a parameter.",
       .condition = for_adam},
      {.section = section,
       .key = "clip_norm",
       .type = RealOption{PLIMSOLL_MEMBER(optimizer.clip_norm), kNotNegative},
       .doc = "Largest 2-norm of all gradients together; longer ones are scaled down to it. 0: no clipping.",
       .aliases = {"max_grad_norm"},
       .hints = {"gradient_clip_val", "grad_clip", "clip", "gradient_clip", "clip_grad_norm", "clip_grad"}},
  };
}

std::vector<RunOption> schedule_options() {
  const std::string section = "schedule";
  return {
      {.section = section,
       .key = "name",
       .type = ChoiceOption{PLIMSOLL_MEMBER(schedule.name), {"constant", "linear", "cosine", "inverse_sqrt"}},
       .doc = "How the learning rate goes on after warm-up; linear and cosine come down to min_lr, where the update "
              "after the last would be.",
       .hints = {"schedule", "scheduler", "lr_scheduler_type", "type", "decay"}},
      {.section = section,
       .key = "warmup_steps",
       .type = WholeOption{PLIMSOLL_MEMBER(schedule.warmup_steps)},
       .doc = "Updates in which the learning rate rises to lr.",
       .hints = {"warmup", "warmup_iters", "num_warmup_steps", "warm_up"}},
      {.section = section,
       .key = "min_lr",
       .type = RealOption{PLIMSOLL_MEMBER(schedule.min_lr), kNotNegative},
       .doc = "Learning rate at the end of the decay; at most lr.",
       .hints = {"eta_min", "final_lr", "end_lr", "lr_end"},
       .condition = {"name", {"linear", "cosine"}}},
  };
}

std::vector<RunOption> machine_options() {
  return {
      {.section = "memory",
       .key = "ram",
       .type = SizeOption{PLIMSOLL_MEMBER(memory.ram)},
       .doc = "Budget of the whole process, file cache and libraries included. `\"auto\"`: what the machine, or the "
              "memory cgroup around it, can give.",
       .hints = {"ram_bytes", "memory", "budget", "limit", "max_memory", "mem"}},
      {.section = "run",
       .key = "folder",
       .type = TextOption{PLIMSOLL_MEMBER(run.folder), true},
       .doc = "Where all that a run leaves behind goes; it must not exist yet.",
       .hints = {"dir", "out_dir", "output_dir", "run_dir", "path", "output", "name"},
       .default_note = "`runs/` and the run file's name without `.toml`"},
      {.section = "run",
       .key = "threads",
       .type = WholeOption{PLIMSOLL_MEMBER(run.threads), 0, kMostThreads},
       .doc = "Threads that compute; results do not depend on it. 0: as many as the process may use.",
       .hints = {"num_threads", "n_threads", "cores", "num_workers", "workers"}},
      {.section = "run",
       .key = "device",
       .type = ChoiceOption{PLIMSOLL_MEMBER(run.device), {"cpu", "reference"}},
       .doc = "Where to compute. `reference`: plain loops that sum in f64, slow, for comparison.",
       .hints = {"backend", "accelerator"}},
      {.section = "run",
       .key = "fusions",
       .type = TextOption{PLIMSOLL_MEMBER(run.fusions)},
       .doc = "Which passes join neighbouring ops to save traffic of memory: `all`, `none`, or names with commas "
              "between, as `plimsoll plan … --dump_passes` shows them. They may change the last bits of results.",
       .hints = {"fusion", "fuse", "passes"}},
  };
}

#undef PLIMSOLL_MEMBER

}  // namespace

std::span<const RunOption> run_options() {
  static const std::vector<RunOption> kOptions = [] {
    std::vector<RunOption> all;
    for (auto part :
         {model_options(), data_options(), train_options(), optimizer_options(), schedule_options(), machine_options()})
      all.insert(all.end(), part.begin(), part.end());
    return all;
  }();
  return kOptions;
}

}  // namespace plimsoll::engine
