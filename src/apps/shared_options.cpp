#include "apps/shared_options.h"

namespace plimsoll::apps {

void add_json_option(CLI::App& command, bool& json) {
  command.add_flag("--json", json, "JSON instead of text: one object a line");
}

void add_threads_option(CLI::App& command, int& threads) {
  command.add_option("--threads", threads, "Threads that compute; 0: all that the process may use")
      ->check(CLI::NonNegativeNumber);
}

Result<std::optional<Bytes>> try_parse_ram(const std::string& text) {
  if (text.empty() || text == "auto") return std::optional<Bytes>();
  auto bytes = try_parse_bytes(text);
  if (!bytes.ok()) return bytes.error().with_context("--ram");
  if (bytes->value == 0) return invalid_argument("--ram is 0; give a size such as 2GiB, or leave it out");
  return std::optional<Bytes>(*bytes);
}

std::string to_budget(int64_t size_bytes) {
  static constexpr int64_t kMebibyte = int64_t{1} << 20;
  return std::to_string((size_bytes + kMebibyte - 1) / kMebibyte) + "MiB";
}

}  // namespace plimsoll::apps
