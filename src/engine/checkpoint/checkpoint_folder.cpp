#include "engine/checkpoint/checkpoint_folder.h"

#include <sys/statvfs.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <span>
#include <tuple>

#include "core/check.h"
#include "formats/file_reader.h"
#include "formats/file_writer.h"

namespace plimsoll::engine {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kStateLimitBytes = 64 << 20;  // a state of a million tensors; what is longer was not written by us

bool take_ending(std::string_view& name, std::string_view ending) {
  if (!name.ends_with(ending)) return false;
  name.remove_suffix(ending.size());
  return true;
}

// N of "step-N", in the one spelling that a save writes.
std::optional<int64_t> parse_step(std::string_view name) {
  constexpr std::string_view kStart = "step-";
  if (!name.starts_with(kStart)) return std::nullopt;
  name.remove_prefix(kStart.size());
  int64_t step = 0;
  const auto [end, fault] = std::from_chars(name.data(), name.data() + name.size(), step);
  const bool is_step = fault == std::errc{} && step >= 0 && std::to_string(step) == name;
  return is_step ? std::optional(step) : std::nullopt;
}

std::optional<CheckpointFolder> parse_folder(const fs::path& path) {
  const std::string file_name = path.filename().string();
  std::string_view name = file_name;
  const bool is_old = take_ending(name, kOldEnding);
  const auto step = parse_step(name);
  if (!step) return std::nullopt;
  return CheckpointFolder{*step, is_old, path.string()};
}

bool is_leftover(const fs::path& path) {
  const std::string file_name = path.filename().string();
  std::string_view name = file_name;
  if (!take_ending(name, kPartialEnding)) return false;
  take_ending(name, kOldEnding);
  return parse_step(name).has_value();
}

std::vector<fs::path> entries_of(const std::string& parent) {
  std::vector<fs::path> paths;
  std::error_code fault;
  for (fs::directory_iterator at(parent, fault), end; !fault && at != end; at.increment(fault))
    paths.push_back(at->path());
  std::ranges::sort(paths);
  return paths;
}

Status try_rename(const std::string& from, const std::string& to) {
  std::error_code fault;
  fs::rename(from, to, fault);
  if (fault) return io_error("cannot rename " + from + " to " + to + ": " + fault.message());
  return {};
}

Status try_remove_all(const std::string& path) {
  std::error_code fault;
  fs::remove_all(path, fault);
  if (fault) return io_error("cannot remove " + path + ": " + fault.message());
  return {};
}

bool exists(const std::string& path) {
  std::error_code ignored;
  return fs::exists(path, ignored);
}

Status check_size(const std::string& path, int64_t expected_bytes) {
  std::error_code fault;
  const auto size = fs::file_size(path, fault);
  if (fault) return corrupt(path + " is missing or unreadable: " + fault.message());
  if (size == static_cast<uintmax_t>(expected_bytes)) return {};
  return corrupt(path + " has " + std::to_string(size) + " bytes instead of " + std::to_string(expected_bytes));
}

Result<std::string> try_read_text(const std::string& path) {
  PLIMSOLL_ASSIGN(const formats::FileReader file, formats::FileReader::try_open(path));
  if (file.size_bytes() > kStateLimitBytes) return corrupt("it has " + std::to_string(file.size_bytes()) + " bytes");
  std::string text(static_cast<size_t>(file.size_bytes()), '\0');
  PLIMSOLL_RETURN_IF_ERROR(file.try_read(0, std::as_writable_bytes(std::span(text))));
  return text;
}

std::string parent_of(const std::string& folder) { return fs::path(folder).parent_path().string(); }

}  // namespace

std::string absolute_folder(const std::string& folder) {
  std::error_code fault;
  const fs::path path = fs::absolute(folder, fault).lexically_normal();
  if (fault) return folder;
  return (path.has_filename() ? path : path.parent_path()).string();
}

std::string checkpoints_of(const std::string& run_folder) { return absolute_folder(run_folder) + "/checkpoints"; }

std::vector<CheckpointFolder> list_checkpoints(const std::string& parent) {
  std::vector<CheckpointFolder> folders;
  std::error_code ignored;
  for (const fs::path& path : entries_of(parent))
    if (auto folder = parse_folder(path); folder && fs::is_directory(path, ignored))
      folders.push_back(std::move(*folder));
  std::ranges::sort(folders, [](const CheckpointFolder& a, const CheckpointFolder& b) {
    return std::tuple(b.step, a.is_old) < std::tuple(a.step, b.is_old);
  });
  return folders;
}

Result<CheckpointRecord> try_read_record(const std::string& folder) {
  std::error_code ignored;
  if (!fs::is_directory(folder, ignored)) return io_error("there is no checkpoint " + folder);
  const std::string path = folder + "/" + kStateFile;
  if (!exists(path)) return corrupt(path + " is missing");
  PLIMSOLL_ASSIGN(const std::string text, try_read_text(path));
  auto record = try_parse_record(text);
  if (!record.ok()) return record.error().with_context(path);
  PLIMSOLL_RETURN_IF_ERROR(check_size(folder + "/" + kModelFile, record->model.size_bytes));
  PLIMSOLL_RETURN_IF_ERROR(check_size(folder + "/" + kOptimizerFile, record->optimizer.size_bytes));
  return record;
}

std::optional<CheckpointFolder> find_whole_checkpoint(const std::string& parent, std::optional<int64_t> below) {
  for (CheckpointFolder& folder : list_checkpoints(parent))
    if ((!below || folder.step < *below) && try_read_record(folder.path).ok()) return std::move(folder);
  return std::nullopt;
}

Status try_remove_checkpoint(const std::string& folder) {
  // Not step-N.partial: a save of the same step may be waiting there to take this one's place.
  std::string_view name = folder;
  take_ending(name, kOldEnding);
  const std::string aside = std::string(name) + kOldEnding + kPartialEnding;
  PLIMSOLL_RETURN_IF_ERROR(try_remove_all(aside));
  PLIMSOLL_RETURN_IF_ERROR(try_rename(folder, aside));
  PLIMSOLL_RETURN_IF_ERROR(formats::try_sync_folder(parent_of(folder)));
  return try_remove_all(aside);
}

Status try_remove_leftovers(const std::string& parent) {
  for (const fs::path& path : entries_of(parent))
    if (is_leftover(path)) PLIMSOLL_RETURN_IF_ERROR(try_remove_all(path.string()));
  return {};
}

Status try_remove_older(const std::string& parent, int keep, const std::string& newest) {
  int kept = 0;
  std::optional<int64_t> last;  // the step of the whole checkpoint met last: an old one of that step is replaced
  for (const CheckpointFolder& folder : list_checkpoints(parent)) {
    const bool is_whole = try_read_record(folder.path).ok();
    const bool is_wanted = folder.path == newest || (kept < keep && !(folder.is_old && last == folder.step));
    if (!is_wanted) PLIMSOLL_RETURN_IF_ERROR(try_remove_checkpoint(folder.path));
    if (is_whole && is_wanted) {
      ++kept;
      last = folder.step;
    }
  }
  return {};
}

Status try_put_in_place(const std::string& partial, const std::string& folder) {
  const std::string old = folder + kOldEnding;
  if (exists(folder)) {
    const auto record = try_read_record(folder);
    if (!record.ok() && record.error().code == ErrorCode::kCorrupt) {
      PLIMSOLL_RETURN_IF_ERROR(try_remove_checkpoint(folder));
    } else {
      if (exists(old)) PLIMSOLL_RETURN_IF_ERROR(try_remove_checkpoint(old));
      PLIMSOLL_RETURN_IF_ERROR(try_rename(folder, old));
    }
  }
  PLIMSOLL_RETURN_IF_ERROR(try_rename(partial, folder));
  return formats::try_sync_folder(parent_of(folder));
}

Status check_free_space(const std::string& folder, int64_t needed_bytes) {
  struct statvfs facts {};
  if (::statvfs(folder.c_str(), &facts) != 0)
    return io_error("cannot ask for free space of " + folder + ": " + std::strerror(errno));
  const auto free_bytes = facts.f_bavail * facts.f_frsize;
  if (static_cast<uint64_t>(needed_bytes) <= free_bytes) return {};
  return io_error("not enough space in " + folder + ": " + std::to_string(needed_bytes) + " bytes are needed, " +
                  std::to_string(free_bytes) + " are free");
}

}  // namespace plimsoll::engine
