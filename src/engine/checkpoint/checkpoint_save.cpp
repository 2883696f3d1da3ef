// Saving: all is written aside, and what was whole stays until the new one is.
#include <algorithm>
#include <filesystem>
#include <vector>

#include "core/bytes.h"
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

constexpr int64_t kSumBytes = 256 << 10;   // summed and copied while it is in the cache
constexpr int64_t kDiskBlockBytes = 4096;  // what a file's end wastes at most
constexpr int64_t kFolderBytes = 4 * kDiskBlockBytes;

std::span<const std::byte> bytes_of(const TensorView& view) {
  return {view.data, static_cast<size_t>(view.desc.size_bytes())};
}

std::vector<SafetensorsEntry> to_entries(Views views) {
  std::vector<SafetensorsEntry> entries;
  for (const TensorView& view : views) {
    PLIMSOLL_CHECK(view.desc.layout.is_plain(), view.name, " ", to_string(view.desc));
    entries.push_back({.name = view.name, .dtype = view.desc.dtype, .shape = view.desc.shape});
  }
  return entries;
}

// What the files will say, but for the checksums, which stand at their longest.
Result<CheckpointFile> try_outline(Views views) {
  CheckpointFile file{.header_checksum = UINT32_MAX};
  PLIMSOLL_ASSIGN(file.size_bytes, formats::try_safetensors_size_bytes(to_entries(views)));
  for (const TensorView& view : views) file.checksums[view.name] = UINT32_MAX;
  return file;
}

Result<int64_t> try_needed_bytes(const CheckpointRecord& outline) {
  PLIMSOLL_ASSIGN(const std::string text, try_write_record(outline));
  int64_t needed = kFolderBytes;
  for (int64_t size : {outline.model.size_bytes, outline.optimizer.size_bytes, static_cast<int64_t>(text.size())})
    if (size > INT64_MAX - kDiskBlockBytes || __builtin_add_overflow(needed, align_up(size, kDiskBlockBytes), &needed))
      return invalid_argument("the size of all tensors overflows");
  return needed;
}

Status try_append_summed(formats::SafetensorsWriter& writer, std::span<const std::byte> bytes, uint32_t& sum) {
  sum = 0;
  while (!bytes.empty()) {
    const auto chunk = bytes.first(std::min(bytes.size(), static_cast<size_t>(kSumBytes)));
    sum = formats::crc32c(chunk, sum);
    PLIMSOLL_RETURN_IF_ERROR(writer.try_append(chunk));
    bytes = bytes.subspan(chunk.size());
  }
  return {};
}

Status try_write_tensors(const std::string& path, Views views, const formats::WriteCall& write, CheckpointFile& file) {
  PLIMSOLL_ASSIGN(auto writer, formats::SafetensorsWriter::try_create(path, to_entries(views), {}, write));
  file.header_checksum = writer.header_checksum();
  for (const TensorView& view : views)
    PLIMSOLL_RETURN_IF_ERROR(try_append_summed(writer, bytes_of(view), file.checksums[view.name]));
  return writer.try_finish();
}

Status try_create_folders(const std::string& folder) {
  std::error_code fault;
  fs::create_directories(folder, fault);
  if (fault) return io_error("cannot create " + folder + ": " + fault.message());
  return {};
}

Status try_write_folder(const std::string& partial, Views parameters, Views optimizer, CheckpointRecord record,
                        const formats::WriteCall& write) {
  PLIMSOLL_RETURN_IF_ERROR(try_create_folders(partial));
  PLIMSOLL_RETURN_IF_ERROR(try_write_tensors(partial + "/" + kModelFile, parameters, write, record.model));
  PLIMSOLL_RETURN_IF_ERROR(try_write_tensors(partial + "/" + kOptimizerFile, optimizer, write, record.optimizer));
  PLIMSOLL_ASSIGN(const std::string text, try_write_record(record));
  return formats::try_write_file(partial + "/" + kStateFile, text, write);
}

Status try_save(const std::string& folder, Views parameters, Views optimizer, const TrainingState& state,
                const SaveOptions& options) {
  if (state.step < 0) return invalid_argument("step " + std::to_string(state.step) + " is negative");
  if (options.keep < 1) return invalid_argument("keep " + std::to_string(options.keep) + " must be at least 1");
  CheckpointRecord record{.state = state};
  PLIMSOLL_ASSIGN(record.model, try_outline(parameters));
  PLIMSOLL_ASSIGN(record.optimizer, try_outline(optimizer));
  PLIMSOLL_ASSIGN(const int64_t needed_bytes, try_needed_bytes(record));

  const std::string parent = fs::path(folder).parent_path().string();
  PLIMSOLL_RETURN_IF_ERROR(try_create_folders(parent));
  PLIMSOLL_RETURN_IF_ERROR(formats::try_sync_folder(fs::path(parent).parent_path().string()));
  PLIMSOLL_RETURN_IF_ERROR(try_remove_leftovers(parent));
  PLIMSOLL_RETURN_IF_ERROR(check_free_space(parent, needed_bytes));

  const std::string partial = folder + kPartialEnding;
  Status written = try_write_folder(partial, parameters, optimizer, std::move(record), options.write);
  if (!written.ok()) {
    (void)try_remove_leftovers(parent);  // gives a full disk its room back; what is wrong is said already
    return written;
  }
  return try_put_in_place(partial, folder);
}

}  // namespace

Status save_checkpoint(const std::string& run_folder, std::span<const TensorView> parameters,
                       std::span<const TensorView> optimizer, const TrainingState& state, const SaveOptions& options) {
  const std::string parent = checkpoints_of(run_folder);
  const std::string step = "step-" + std::to_string(state.step);
  const std::string folder = parent + "/" + step;
  if (const Status saved = try_save(folder, parameters, optimizer, state, options); !saved.ok()) {
    Error error = saved.error().with_context("[checkpoint] " + step + " is not saved");
    if (const auto last = find_whole_checkpoint(parent))
      error.message += "; the last whole checkpoint is " + last->path;
    return error;
  }
  const Status removed = try_remove_older(parent, options.keep, folder);
  if (!removed.ok()) return removed.error().with_context("[checkpoint] " + step + " is saved, but older ones are left");
  return {};
}

}  // namespace plimsoll::engine
