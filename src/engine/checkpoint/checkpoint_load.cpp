// Loading: everything is compared before the first tensor is filled, and summed while it is.
#include <filesystem>
#include <map>
#include <optional>
#include <vector>

#include "core/check.h"
#include "engine/checkpoint/checkpoint.h"
#include "engine/checkpoint/checkpoint_folder.h"
#include "formats/crc32c.h"
#include "formats/safetensors.h"

namespace plimsoll::engine {
namespace {

namespace fs = std::filesystem;
using formats::SafetensorsEntry;
using Views = std::span<const TensorView>;

std::string describe(const std::string& name, DType dtype, const Shape& shape) {
  return "'" + name + "' " + to_string(TensorDesc{.dtype = dtype, .shape = shape});
}

// What to do about a damaged checkpoint.
Error with_advice(const Error& error, const std::string& folder) {
  Error out = error;
  out.message = "[checkpoint] " + error.message;
  if (error.code != ErrorCode::kCorrupt) return out;
  const std::string parent = fs::path(folder).parent_path().string();
  std::optional<int64_t> step;
  for (const CheckpointFolder& known : list_checkpoints(parent))
    if (known.path == folder) step = known.step;
  const auto earlier = step ? find_whole_checkpoint(parent, step) : std::nullopt;
  out.message += earlier ? "; use the checkpoint before it: " + earlier->path
                         : "; there is no whole checkpoint before it: train anew, or copy this one again";
  return out;
}

struct Source {
  formats::SafetensorsReader reader;
  const CheckpointFile& file;
  Views views;
};

Result<Source> try_open(const std::string& path, const CheckpointFile& file, Views views) {
  PLIMSOLL_ASSIGN(auto reader, formats::SafetensorsReader::try_open(path, file.header_checksum));
  return Source{std::move(reader), file, views};
}

// The first tensor that the file and the run do not share; empty where there is none.
std::string first_difference(const Source& source) {
  std::map<std::string_view, const SafetensorsEntry*> there;
  for (const SafetensorsEntry& entry : source.reader.header().entries) there[entry.name] = &entry;
  for (const TensorView& view : source.views) {
    PLIMSOLL_CHECK(view.desc.layout.is_plain(), view.name, " ", to_string(view.desc));
    const auto found = there.find(view.name);
    const std::string here = describe(view.name, view.desc.dtype, view.desc.shape);
    if (found == there.end()) return "tensor " + here + " is not in it";
    const SafetensorsEntry& entry = *found->second;
    if (entry.dtype != view.desc.dtype || entry.shape != view.desc.shape)
      return "tensor '" + view.name + "' is " + to_string(TensorDesc{.dtype = entry.dtype, .shape = entry.shape}) +
             " there, " + to_string(view.desc) + " here";
    there.erase(found);
  }
  for (const SafetensorsEntry& entry : source.reader.header().entries)
    if (there.contains(entry.name))
      return "tensor " + describe(entry.name, entry.dtype, entry.shape) + " is only there";
  return {};
}

Status try_fill(const Source& source) {
  for (const TensorView& view : source.views) {
    const SafetensorsEntry* entry = source.reader.header().find(view.name);
    const std::span<std::byte> out(view.data, static_cast<size_t>(entry->size_bytes()));
    uint32_t sum = 0;
    PLIMSOLL_RETURN_IF_ERROR(source.reader.try_read(
        *entry, out, [&sum](std::span<const std::byte> chunk) { sum = formats::crc32c(chunk, sum); }));
    const auto expected = source.file.checksums.find(view.name);
    if (expected == source.file.checksums.end() || expected->second != sum)
      return corrupt(source.reader.path() + " is damaged: tensor '" + view.name + "' does not match its checksum");
  }
  return {};
}

// Compares all before the first tensor is filled.
Status check_same_model(const std::string& folder, const TrainingState& state, const std::string& model,
                        uint64_t model_hash, std::span<const Source> sources) {
  const std::string which = state.model == model
                                ? folder + " is of a '" + model + "' with other settings"
                                : folder + " is of model '" + state.model + "', this is '" + model + "'";
  if (const std::string difference = first_difference(sources[0]); !difference.empty())
    return invalid_argument(which + ": " + difference);
  if (state.model != model || state.model_hash != model_hash)
    return invalid_argument(which + ", though all shapes agree; use the run file that it was saved with");
  for (const Source& source : sources.subspan(1))
    if (const std::string difference = first_difference(source); !difference.empty())
      return invalid_argument(folder + " has the state of optimizer '" + state.optimizer +
                              "', not of this run's: " + difference);
  return {};
}

Result<TrainingState> try_load(const std::string& folder, const std::string& model, uint64_t model_hash,
                               Views parameters, const std::optional<Views>& optimizer) {
  PLIMSOLL_ASSIGN(const CheckpointRecord record, try_read_record(folder));
  std::vector<Source> sources;
  PLIMSOLL_ASSIGN(Source weights, try_open(folder + "/" + kModelFile, record.model, parameters));
  sources.push_back(std::move(weights));
  if (optimizer) {
    PLIMSOLL_ASSIGN(Source moments, try_open(folder + "/" + kOptimizerFile, record.optimizer, *optimizer));
    sources.push_back(std::move(moments));
  }
  PLIMSOLL_RETURN_IF_ERROR(check_same_model(folder, record.state, model, model_hash, sources));
  for (const Source& source : sources) PLIMSOLL_RETURN_IF_ERROR(try_fill(source));
  return record.state;
}

Result<TrainingState> load(const std::string& folder, const std::string& model, uint64_t model_hash, Views parameters,
                           const std::optional<Views>& optimizer) {
  const std::string tidied = absolute_folder(folder);
  auto state = try_load(tidied, model, model_hash, parameters, optimizer);
  if (!state.ok()) return with_advice(state.error(), tidied);
  return state;
}

}  // namespace

Result<LatestCheckpoint> find_latest_checkpoint(const std::string& run_folder) {
  const std::string parent = checkpoints_of(run_folder);
  std::string why_not_newest;
  for (const CheckpointFolder& folder : list_checkpoints(parent)) {
    const auto record = try_read_record(folder.path);
    if (record.ok() && why_not_newest.empty()) return LatestCheckpoint{folder.path};
    if (record.ok())
      return LatestCheckpoint{folder.path, "the newest checkpoint is damaged (" + why_not_newest +
                                               "); taken is the one before it, " + folder.path};
    if (record.error().code != ErrorCode::kCorrupt)
      return Error{record.error().code, "[checkpoint] " + record.error().message, {}};
    if (why_not_newest.empty()) why_not_newest = record.error().message;
  }
  if (why_not_newest.empty()) return io_error("[checkpoint] there is no checkpoint in " + parent);
  return corrupt("[checkpoint] there is no whole checkpoint in " + parent + "; of the newest, " + why_not_newest +
                 "; remove the run folder and begin again");
}

Result<TrainingState> read_training_state(const std::string& folder) {
  const std::string tidied = absolute_folder(folder);
  auto record = try_read_record(tidied);
  if (!record.ok()) return with_advice(record.error(), tidied);
  return std::move(record->state);
}

Result<TrainingState> load_checkpoint(const std::string& folder, const std::string& model, uint64_t model_hash,
                                      std::span<const TensorView> parameters, std::span<const TensorView> optimizer) {
  return load(folder, model, model_hash, parameters, optimizer);
}

Result<TrainingState> load_parameters(const std::string& folder, const std::string& model, uint64_t model_hash,
                                      std::span<const TensorView> parameters) {
  return load(folder, model, model_hash, parameters, std::nullopt);
}

}  // namespace plimsoll::engine
