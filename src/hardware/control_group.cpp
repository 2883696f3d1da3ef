#include "hardware/control_group.h"

#include <algorithm>
#include <charconv>

namespace plimsoll::hardware {
namespace {

/// v1 writes "no limit" as the largest int64 rounded down to pages; no machine has 4 EiB.
constexpr int64_t kUnlimited = int64_t{1} << 62;

struct Mount {
  std::string root;  ///< the group that the mount point shows
  std::string point;
};

/// mountinfo writes blanks and backslashes of paths as three octal digits.
std::string unescape(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    int code = 0;
    if (text[i] == '\\' && i + 3 < text.size() &&
        std::from_chars(text.data() + i + 1, text.data() + i + 4, code, 8).ec == std::errc()) {
      out += static_cast<char>(code);
      i += 3;
    } else {
      out += text[i];
    }
  }
  return out;
}

bool lists(std::string_view comma_separated, std::string_view word) {
  const auto words = split(comma_separated, ',');
  return std::find(words.begin(), words.end(), word) != words.end();
}

/// Lines read "id parent device root point options [more…] - type source superoptions".
std::optional<Mount> find_mount(const SystemRoot& root, std::string_view controller, bool is_v2) {
  const auto text = try_read_text(root.path("/proc/self/mountinfo"));
  if (!text) return std::nullopt;
  for (std::string_view line : split(*text, '\n')) {
    const size_t dash = line.find(" - ");
    if (dash == std::string_view::npos) continue;
    const auto left = split(line.substr(0, dash), ' ');
    const auto right = split(line.substr(dash + 3), ' ');
    if (left.size() < 5 || right.empty() || right[0] != (is_v2 ? "cgroup2" : "cgroup")) continue;
    if (is_v2 || (right.size() >= 3 && lists(right[2], controller))) return Mount{unescape(left[3]), unescape(left[4])};
  }
  return std::nullopt;
}

/// Lines read "number:controllers:/path"; the unified hierarchy has no controllers.
std::optional<std::string> find_group_path(const SystemRoot& root, std::string_view controller, bool is_v2) {
  const auto text = try_read_text(root.path("/proc/self/cgroup"));
  if (!text) return std::nullopt;
  for (std::string_view line : split(*text, '\n')) {
    const size_t first = line.find(':');
    const size_t second = first == std::string_view::npos ? first : line.find(':', first + 1);
    if (second == std::string_view::npos) continue;
    const std::string_view controllers = line.substr(first + 1, second - first - 1);
    if (is_v2 ? controllers.empty() : lists(controllers, controller)) return std::string(line.substr(second + 1));
  }
  return std::nullopt;
}

/// The group's path below the mount point: "" for the mount itself. Examples: group /a/b in a mount of / is "/a/b", in
/// a mount of /a it is "/b"; group /x or /../x in a mount of /a lies outside.
std::string relative_path(const Mount& mount, const std::string& group) {
  if (group.find("/..") != std::string::npos) return "";
  const std::string base = mount.root == "/" ? "" : mount.root;
  if (!group.starts_with(base)) return "";
  std::string rest = group.substr(base.size());
  if (!rest.empty() && rest.front() != '/') return "";
  while (rest.ends_with('/')) rest.pop_back();
  return rest;
}

std::optional<ControlGroup> find_in(const SystemRoot& root, std::string_view controller, bool is_v2) {
  const auto mount = find_mount(root, controller, is_v2);
  const auto group = find_group_path(root, controller, is_v2);
  if (!mount || !group) return std::nullopt;
  ControlGroup out{is_v2, {}};
  std::string path = relative_path(*mount, *group);
  for (; !path.empty(); path.erase(path.rfind('/'))) out.folders.push_back(root.path(mount->point + path));
  out.folders.push_back(root.path(mount->point));
  return out;
}

Bytes read_reclaimable(const std::string& folder, bool is_v2) {
  const auto text = try_read_text(folder + "/memory.stat");
  if (!text) return {};
  const std::string prefix = is_v2 ? "" : "total_";  // v1 counts the groups below only in the totals
  return {try_find_number(*text, prefix + "inactive_file").value_or(0) +
          try_find_number(*text, prefix + "active_file").value_or(0)};
}

/// "quota period" of v2's cpu.max, or v1's two files; a quota of "max" or -1 is no limit.
std::optional<double> read_quota(const std::string& folder, bool is_v2) {
  std::optional<int64_t> quota;
  std::optional<int64_t> period;
  if (is_v2) {
    const auto text = try_read_text(folder + "/cpu.max").value_or("");
    const size_t blank = text.find(' ');
    if (blank == std::string::npos) return std::nullopt;
    quota = try_parse_number(text);
    period = try_parse_number(std::string_view(text).substr(blank));
  } else {
    quota = try_read_number(folder + "/cpu.cfs_quota_us");
    period = try_read_number(folder + "/cpu.cfs_period_us");
  }
  if (!quota || !period || *quota <= 0 || *period <= 0) return std::nullopt;
  return static_cast<double>(*quota) / static_cast<double>(*period);
}

}  // namespace

std::optional<ControlGroup> try_find_control_group(const SystemRoot& root, std::string_view controller) {
  if (auto v1 = find_in(root, controller, false)) return v1;
  return find_in(root, controller, true);
}

std::vector<MemoryLimit> read_memory_limits(const SystemRoot& root) {
  std::vector<MemoryLimit> limits;
  const auto group = try_find_control_group(root, "memory");
  if (!group) return limits;
  const std::vector<const char*> names = group->is_v2 ? std::vector<const char*>{"/memory.max", "/memory.high"}
                                                      : std::vector<const char*>{"/memory.limit_in_bytes"};
  const char* usage = group->is_v2 ? "/memory.current" : "/memory.usage_in_bytes";
  for (const std::string& folder : group->folders) {
    for (const char* name : names) {
      const auto limit = try_read_number(folder + name);
      if (!limit || *limit < 0 || *limit >= kUnlimited) continue;
      limits.push_back({folder + name,
                        {*limit},
                        {try_read_number(folder + usage).value_or(0)},
                        read_reclaimable(folder, group->is_v2)});
    }
  }
  return limits;
}

std::optional<double> try_read_cpu_quota(const SystemRoot& root) {
  std::optional<double> least;
  const auto group = try_find_control_group(root, "cpu");
  if (!group) return least;
  for (const std::string& folder : group->folders) {
    const auto quota = read_quota(folder, group->is_v2);
    if (quota && (!least || *quota < *least)) least = quota;
  }
  return least;
}

}  // namespace plimsoll::hardware
