#include "engine/generation/generator.h"

#include <filesystem>

#include "engine/checkpoint/checkpoint.h"
#include "engine/checkpoint/checkpoint_folder.h"
#include "engine/generation/inference_plan.h"
#include "engine/run_file/resolved_run.h"
#include "engine/run_file/tokenizer_choice.h"
#include "formats/file_reader.h"

namespace plimsoll::engine {
namespace {

/// The run folder of a checkpoint's folder ("…/checkpoints/step-N"), or the folder itself.
Result<std::string> try_find_run_folder(const std::string& folder) {
  PLIMSOLL_ASSIGN(const bool exists, formats::try_exists(folder));
  if (!exists) return io_error("there is no run folder or checkpoint '" + folder + "'");
  PLIMSOLL_ASSIGN(const bool is_run_folder, formats::try_exists(folder + "/run.toml"));
  if (is_run_folder) return folder;
  const std::filesystem::path parent = std::filesystem::path(absolute_folder(folder)).parent_path();
  const std::string above = parent.parent_path().string();
  PLIMSOLL_ASSIGN(const bool is_inside, formats::try_exists(above + "/run.toml"));
  if (is_inside && parent == checkpoints_of(above)) return above;
  return invalid_argument("'" + folder + "' is neither a run folder nor a checkpoint inside one (no run.toml)");
}

}  // namespace

Result<std::unique_ptr<Generator>> Generator::make(const std::string& folder, Environment& environment, Bytes ram,
                                                   int64_t batch) {
  PLIMSOLL_ASSIGN(const std::string run_folder, try_find_run_folder(folder));
  PLIMSOLL_ASSIGN(const RunConfig config, try_load_run_config(run_folder + "/run.toml"));
  if (config.data.tokenizer == "none")
    return invalid_argument("the run '" + run_folder +
                            "' was trained on token files without a tokenizer to write text with; put the path of the "
                            ".model file that made them into its run.toml as [data] tokenizer");
  LatestCheckpoint checkpoint{.folder = folder};
  if (run_folder == folder) {
    PLIMSOLL_ASSIGN(checkpoint, find_latest_checkpoint(run_folder));
  }
  PLIMSOLL_ASSIGN(ResolvedRun run, try_resolve(config, environment.ops()));
  std::unique_ptr<Generator> out(new Generator());
  out->warning_ = std::move(checkpoint.note);
  out->model_ = std::move(run.model);
  if (!out->model_.decoder) return unsupported("the model '" + out->model_.name + "' cannot generate");
  const std::optional<std::string> file = tokenizer_file(config, run_folder);
  PLIMSOLL_ASSIGN(out->tokenizer_, data::try_load_tokenizer(file.value_or(config.data.tokenizer)));
  PLIMSOLL_ASSIGN(const models::Model decoder, out->model_.decoder(batch, 1, out->model_.context));
  PLIMSOLL_ASSIGN(InferencePlan plan, plan_inference(decoder.graph, environment, ram, run.needs.loader_bytes));
  out->program_ = std::move(plan.program);
  PLIMSOLL_ASSIGN(out->arena_, memory::try_make_host_arena(Bytes{out->program_.plan.arena_bytes}, environment.pool()));
  std::vector<TensorView> parameters;
  const auto offsets = out->program_.state_offsets();
  for (const graph::Value& value : decoder.graph.values())
    if (value.kind == graph::ValueKind::kParameter)
      parameters.push_back({value.name, value.desc, out->arena_->at(offsets.at(value.name))});
  PLIMSOLL_ASSIGN(const TrainingState state,
                  load_parameters(checkpoint.folder, out->model_.name, out->model_.hash, parameters));
  if (file) {
    PLIMSOLL_ASSIGN(const DataFile now, try_sum_tokenizer(*file, DataFile::Origin::kGiven));
    PLIMSOLL_RETURN_IF_ERROR(check_same_files(state.data_checksums, {&now, 1}));
  }
  out->runner_ = std::make_unique<Runner>(out->program_, environment, out->arena_->data());
  return out;
}

Result<std::vector<Generation>> Generator::generate(std::span<const std::string> prompts, int64_t tokens,
                                                    const SamplingOptions& options, OnText on_text) {
  return engine::generate(*runner_, *tokenizer_, prompts, tokens, model_.context, options, on_text);
}

}  // namespace plimsoll::engine
