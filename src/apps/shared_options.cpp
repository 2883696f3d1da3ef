#include "apps/shared_options.h"

#include <charconv>
#include <cmath>
#include <sstream>

#include "apps/messages.h"
#include "core/printable.h"

namespace plimsoll::apps {

void add_json_option(Command& command, bool& json) {
  command.add_flag("--json", json, "JSON instead of text: one object a line");
}

void add_threads_option(Command& command, int& threads) {
  command.add_option("--threads", threads, "Threads that compute; 0: all that the process may use")
      .check(whole_number(0, engine::kMostThreads));
}

void add_threads_option(Command& command, std::optional<int>& threads) {
  command
      .add_option("--threads", threads,
                  "Threads that compute; 0: all that the process may use. Short for --set run.threads=…")
      .check(whole_number(0, engine::kMostThreads));
}

void add_ram_option(Command& command, std::optional<std::string>& text) {
  command.add_option(
      "--ram", text,
      "Budget of the whole process, e.g. 2GiB; left out: what the machine can give. Exit code 3 where it "
      "is too small");
}

Check whole_number(int64_t least, int64_t most) {
  return [=](const std::string& text) -> std::string {
    int64_t value = 0;
    const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool is_whole = fault == std::errc{} && end == text.data() + text.size();
    if (is_whole && value >= least && value <= most) return "";
    const std::string range = most == std::numeric_limits<int64_t>::max()
                                  ? std::to_string(least) + " or more"
                                  : std::to_string(least) + ".." + std::to_string(most);
    return named(text) + " is no whole number of " + range;
  };
}

namespace {

std::optional<double> try_parse_number(const std::string& text) {
  double value = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool is_number = fault == std::errc{} && end == text.data() + text.size() && std::isfinite(value);
  return is_number ? std::optional(value) : std::nullopt;
}

}  // namespace

Check finite_number() {
  return [](const std::string& text) { return try_parse_number(text) ? std::string() : named(text) + " is no number"; };
}

Check positive_number() {
  return [](const std::string& text) {
    return try_parse_number(text).value_or(0) > 0 ? std::string() : named(text) + " is no number above 0";
  };
}

Result<std::optional<engine::Rates>> try_parse_rates(const std::string& text) {
  if (text.empty()) return std::optional<engine::Rates>();
  engine::Rates rates;
  char comma = 0;
  std::istringstream in(text);
  in >> rates.flops_per_s >> comma >> rates.bytes_per_s;
  const bool is_read = !in.fail() && comma == ',' && in.peek() == std::istringstream::traits_type::eof();
  if (!is_read || !std::isfinite(rates.flops_per_s) || !std::isfinite(rates.bytes_per_s) || rates.flops_per_s <= 0 ||
      rates.bytes_per_s <= 0)
    return invalid_argument("--rates is " + named(text) +
                            "; expected flops and bytes a second, both above 0, such as 1e11,2e10");
  return std::optional(rates);
}

Result<std::optional<Bytes>> try_parse_ram(const std::optional<std::string>& text) {
  if (!text || *text == "auto") return std::optional<Bytes>();
  auto bytes = try_parse_bytes(*text);
  if (!bytes.ok()) return bytes.error().with_context("--ram");
  if (bytes->value == 0)
    return invalid_argument("--ram is " + named(*text) +
                            ", less than a byte; give a size such as 2GiB, or leave it out");
  return std::optional<Bytes>(*bytes);
}

Status add_shortcuts(std::vector<std::string>& overrides, const std::optional<std::string>& ram,
                     std::optional<int> threads) {
  PLIMSOLL_ASSIGN(const std::optional<Bytes> bytes, try_parse_ram(ram));
  // In whole bytes, so that nothing but --ram is left to refuse.
  if (ram) overrides.push_back("memory.ram=" + (bytes ? std::to_string(bytes->value) : "auto"));
  if (threads) overrides.push_back("run.threads=" + std::to_string(*threads));
  return {};
}

void add_fusions_option(Command& command, std::string& text) {
  command.add_option("--fusions", text,
                     "Passes that join neighbouring ops: all, none, or names with commas between, such as "
                     "fuse_elementwise,fuse_matmul_epilogue");
}

Result<std::unique_ptr<engine::Environment>> make_environment(const engine::Environment::Options& options, bool json) {
  PLIMSOLL_ASSIGN(auto environment, engine::Environment::make(options));
  if (!environment->warning().empty()) print_warning(environment->warning(), json);
  return environment;
}

void add_rates_option(Command& command, std::string& text) {
  command.add_option(
      "--rates", text,
      "Flops and bytes a second that the predicted time assumes, e.g. 1e11,2e10; measured where left out");
}

void set_rates(engine::Environment& environment, const std::optional<engine::Rates>& given, int64_t needed_bytes) {
  environment.catalogue().set_rates(given ? *given : engine::measure_rates(environment, Bytes{needed_bytes}));
}

std::string to_budget(int64_t size_bytes) {
  static constexpr int64_t kMebibyte = int64_t{1} << 20;
  return std::to_string((size_bytes + kMebibyte - 1) / kMebibyte) + "MiB";
}

}  // namespace plimsoll::apps
