#include "engine/run_file/run_config.h"

#include <fmt/format.h>
// Header only: the packaged library was built with exceptions.
#define TOML_EXCEPTIONS 0
#define TOML_HEADER_ONLY 1
#include <toml++/toml.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <sstream>

#include "core/printable.h"
#include "core/suggest.h"
#include "core/utf8.h"
#include "engine/run_file/run_options.h"

namespace plimsoll::engine {
namespace {

std::string id_of(const RunOption& option) { return option.section + "." + option.key; }

bool is_named(const RunOption& option, std::string_view key) {
  return option.key == key || std::ranges::find(option.aliases, key) != option.aliases.end();
}

const RunOption* find_option(std::string_view section, std::string_view key) {
  for (const RunOption& option : run_options())
    if (option.section == section && is_named(option, key)) return &option;
  return nullptr;
}

std::vector<std::string> section_names() {
  std::vector<std::string> names;
  for (const RunOption& option : run_options())
    if (names.empty() || names.back() != option.section) names.push_back(option.section);
  return names;
}

/// A key that would only be parsed is refused.
Status check_uses(const RunConfig& config) {
  for (const RunOption& option : run_options())
    if (config.origins.contains(id_of(option)) && !applies(option, config))
      return invalid_argument(fmt::format("{} has no use here: it needs {}; remove it, or change {}",
                                          config.at(option.section, option.key), option.condition.need(),
                                          option.condition.key));
  return {};
}

/// Bytes of a value that messages repeat.
constexpr size_t kMostShown = 80;

/// A value as messages show it, in one line.
std::string shown(const toml::node& node) {
  if (node.is_table()) return "a table";
  if (const auto text = node.as_string()) return to_toml_value(text->get());
  if (const auto number = node.as_floating_point()) return to_toml_value(number->get());
  std::ostringstream out;
  if (const toml::array* list = node.as_array()) {
    for (const toml::node& element : *list) out << (out.tellp() == 0 ? "" : ", ") << shown(element);
    return "[" + out.str() + "]";
  }
  node.visit([&](const auto& n) { out << toml::toml_formatter(n); });
  return out.str();
}

// --- One value, by the option's type: true where it is allowed. ------------------------------------------------------

bool read_whole(const toml::node& node, int64_t least, int64_t most, int64_t& to) {
  const auto number = node.as_integer();
  if (number == nullptr || number->get() < least || number->get() > most) return false;
  to = number->get();
  return true;
}

bool read_real(const toml::node& node, const RealRange& range, double& to) {
  if (!node.is_number()) return false;
  const double number = *node.value<double>();
  if (!range.contains(number)) return false;
  to = number;
  return true;
}

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const size_t length = utf8_length(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

/// What keeps a text from use, as the end of what is expected instead; mostly empty. A NUL would end a path or a
/// message early; what is not UTF-8 could not be written to a run file or a checkpoint.
const char* missing_from(const toml::node& node) {
  const auto text = node.as_string();
  if (text == nullptr) return "";
  if (text->get().find('\0') != std::string::npos) return " without a NUL character";
  return is_utf8(text->get()) ? "" : " in UTF-8";
}

bool read_text(const toml::node& node, bool may_be_empty, std::string& to) {
  const auto text = node.as_string();
  if (text == nullptr || (text->get().empty() && !may_be_empty) || *missing_from(node) != '\0') return false;
  to = text->get();
  return true;
}

bool read(const WholeOption& option, const toml::node& node, RunConfig& config) {
  return read_whole(node, option.least, option.most, option.at(config));
}

bool read(const OptionalWholeOption& option, const toml::node& node, RunConfig& config) {
  return read_whole(node, option.least, option.most, option.at(config).emplace());
}

bool read(const RealOption& option, const toml::node& node, RunConfig& config) {
  return read_real(node, option.range, option.at(config));
}

bool read(const RealPairOption& option, const toml::node& node, RunConfig& config) {
  const toml::array* list = node.as_array();
  if (list == nullptr || list->size() != 2) return false;
  auto& pair = option.at(config);
  return read_real((*list)[0], option.range, pair[0]) && read_real((*list)[1], option.range, pair[1]);
}

bool read(const TruthOption& option, const toml::node& node, RunConfig& config) {
  if (!node.is_boolean()) return false;
  option.at(config) = node.as_boolean()->get();
  return true;
}

bool read(const TextOption& option, const toml::node& node, RunConfig& config) {
  return read_text(node, option.may_be_empty, option.at(config));
}

bool read(const ChoiceOption& option, const toml::node& node, RunConfig& config) {
  return read_text(node, false, option.at(config)) &&
         std::ranges::find(option.choices, option.at(config)) != option.choices.end();
}

bool read(const PathsOption& option, const toml::node& node, RunConfig& config) {
  auto& to = option.at(config);
  const toml::array* list = node.as_array();
  to.assign(list == nullptr ? 1 : list->size(), "");
  if (list == nullptr) return read_text(node, false, to[0]);
  for (size_t i = 0; i < to.size(); ++i)
    if (!read_text((*list)[i], false, to[i])) return false;
  return true;
}

bool read(const SizeOption& option, const toml::node& node, RunConfig& config) {
  int64_t size = 0;
  if (read_whole(node, 1, std::numeric_limits<int64_t>::max(), size)) {
    option.at(config) = Bytes{size};
    return true;
  }
  std::string text;
  if (!read_text(node, false, text)) return false;
  option.at(config).reset();
  if (text == "auto") return true;
  const Result<Bytes> bytes = try_parse_bytes(text);
  if (!bytes.ok() || bytes->value == 0) return false;
  option.at(config) = *bytes;
  return true;
}

/// " and ≤ 2147483647" for a count that is too large: `expected` leaves that bound out.
std::string upper_bound(const RunOption& option, const toml::node& node) {
  const auto number = node.as_integer();
  const auto* whole = std::get_if<WholeOption>(&option.type);
  const int64_t most = whole == nullptr ? kMostCount : whole->most;
  return number != nullptr && most >= kMostCount && number->get() > most ? fmt::format(" and ≤ {}", most) : "";
}

/// "; did you mean 'adamw'?" for a choice that does not exist.
std::string nearest_choice(const RunOption& option, const toml::node& node) {
  const auto* choice = std::get_if<ChoiceOption>(&option.type);
  const auto text = node.as_string();
  return choice == nullptr || text == nullptr ? "" : suggest(text->get(), choice->choices);
}

/// Gives an option its default.
void reset(const RunOption& option, RunConfig& config) {
  RunConfig defaults;
  std::visit([&](const auto& type) { type.at(config) = type.at(defaults); }, option.type);
}

// --- Keys that do not exist. -----------------------------------------------------------------------------------------

/// "; did you mean 'x'?" or "; it belongs to [y]", or "" where nothing is near.
std::string nearest_key(const std::string& section, const std::string& key) {
  const auto is_hint = [&](const RunOption& o) { return std::ranges::find(o.hints, key) != o.hints.end(); };
  for (const RunOption& option : run_options())
    if (option.section == section && is_hint(option)) return fmt::format("; did you mean '{}'?", option.key);
  for (const RunOption& option : run_options())
    if (is_named(option, key)) return fmt::format("; it belongs to [{}]", option.section);
  std::vector<std::string> keys;
  for (const RunOption& option : run_options())
    if (option.section == section) keys.push_back(option.key);
  if (std::string near = suggest(key, keys); !near.empty()) return near;
  for (const RunOption& option : run_options())
    if (is_hint(option)) return fmt::format("; did you mean '{}' in [{}]?", option.key, option.section);
  return "";
}

// --- A file and its overrides. ---------------------------------------------------------------------------------------

class Loader {
 public:
  Loader(const std::string& text, std::string name) : text_(text), name_(std::move(name)) {}

  Result<RunConfig> load(std::span<const std::string> overrides) {
    const toml::parse_result file = toml::parse(text_, name_);
    if (!file)
      return invalid_argument(fmt::format("{}: {}", place(file.error().source().begin), file.error().description()));
    for (const auto& [section, node] : file.table())
      PLIMSOLL_RETURN_IF_ERROR(read_section(std::string(section.str()), section.source().begin, node));
    const RunConfig in_file = config_;
    for (const std::string& text : overrides) PLIMSOLL_RETURN_IF_ERROR(read_override(text, in_file.origins));
    forget_what_overrides_replaced(in_file);
    fill_defaults();
    PLIMSOLL_RETURN_IF_ERROR(check_presence());
    PLIMSOLL_RETURN_IF_ERROR(check_uses(config_));
    PLIMSOLL_RETURN_IF_ERROR(check_together());
    return std::move(config_);
  }

 private:
  std::string place(const toml::source_position& where) const { return fmt::format("{}:{}", name_, where.line); }

  Status read_section(const std::string& section, const toml::source_position& where, const toml::node& node) {
    const std::vector<std::string> names = section_names();
    if (!node.is_table()) {
      const std::string near = nearest_key("", section);
      return invalid_argument(fmt::format("{}: '{}' stands in no section{}", place(where), section, near));
    }
    if (std::ranges::find(names, section) == names.end())
      return invalid_argument(fmt::format("{}: there is no section [{}]{}; sections are {}", place(where), section,
                                          suggest(section, names), fmt::join(names, ", ")));
    for (const auto& [key, value] : *node.as_table())
      PLIMSOLL_RETURN_IF_ERROR(read_key(section, std::string(key.str()), value, place(key.source().begin)));
    return {};
  }

  Status read_key(const std::string& section, const std::string& key, const toml::node& node,
                  const std::string& origin) {
    const RunOption* option = find_option(section, key);
    if (option == nullptr)
      return invalid_argument(
          fmt::format("{}: [{}] has no key '{}'{}", origin, section, key, nearest_key(section, key)));
    if (config_.origins.contains(id_of(*option)))
      return invalid_argument(fmt::format("{}: [{}] '{}' is given twice; '{}' is another name for it", origin, section,
                                          option->key,
                                          option->aliases.empty() ? option->key : option->aliases.front()));
    return read_value(*option, node, origin);
  }

  Status read_value(const RunOption& option, const toml::node& node, const std::string& origin) {
    config_.origins[id_of(option)] = origin;
    if (std::visit([&](const auto& type) { return read(type, node, config_); }, option.type)) return {};
    return invalid_argument(fmt::format("{} is {}; expected {}{}{}{}", config_.at(option.section, option.key),
                                        shortened(shown(node), kMostShown), expected(option), upper_bound(option, node),
                                        missing_from(node), nearest_choice(option, node)));
  }

  /// "section.key=value" or "key=value".
  Status read_override(const std::string& text, const std::map<std::string, std::string>& in_file) {
    std::string origin = "--set " + shortened(text, kMostShown);
    std::ranges::replace(origin, '\n', ' ');
    const size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0)
      return invalid_argument(fmt::format("{}: expected key=value, such as train.batch_size=16", origin));
    PLIMSOLL_ASSIGN(const RunOption* option, find_override(text.substr(0, equals), origin));
    // Steps on the command line replace epochs in the file, and the other way round.
    if (option->key == "steps" && in_file.contains("train.epochs")) forget_epochs();
    if (option->key == "epochs" && in_file.contains("train.steps")) forget_steps();
    const std::string value = text.substr(equals + 1);
    const toml::parse_result parsed = toml::parse("value = " + as_toml(*option, value));
    const toml::node* node = parsed ? parsed.table().get("value") : nullptr;
    const toml::value<std::string> plain(value);
    return read_value(*option, node == nullptr || parsed.table().size() != 1 ? plain : *node, origin);
  }

  /// A key that the file gives and uses, and that has no use beside an override, goes with what it belonged to: with
  /// --set optimizer.name=sgd the file's betas.
  void forget_what_overrides_replaced(const RunConfig& in_file) {
    for (const RunOption& option : run_options()) {
      const std::string id = id_of(option);
      const auto before = in_file.origins.find(id);
      const auto now = config_.origins.find(id);
      const bool is_of_file =
          before != in_file.origins.end() && now != config_.origins.end() && now->second == before->second;
      if (!is_of_file || !applies(option, in_file) || applies(option, config_)) continue;
      config_.origins.erase(id);
      reset(option, config_);
    }
  }

  void forget_epochs() {
    config_.train.epochs.reset();
    config_.origins.erase("train.epochs");
  }
  void forget_steps() {
    config_.train.steps.reset();
    config_.origins.erase("train.steps");
  }

  /// The value as TOML: text needs no quotes on the command line, and a list no brackets.
  static std::string as_toml(const RunOption& option, const std::string& value) {
    if (std::holds_alternative<RealPairOption>(option.type) && !value.starts_with('[')) return "[" + value + "]";
    return value;
  }

  static Result<const RunOption*> find_override(const std::string& name, const std::string& origin) {
    const size_t dot = name.find('.');
    if (dot != std::string::npos) {
      const std::string section = name.substr(0, dot), key = name.substr(dot + 1);
      const std::vector<std::string> names = section_names();
      if (std::ranges::find(names, section) == names.end())
        return invalid_argument(fmt::format("{}: there is no section [{}]{}; sections are {}", origin, section,
                                            suggest(section, names), fmt::join(names, ", ")));
      if (const RunOption* option = find_option(section, key)) return option;
      return invalid_argument(
          fmt::format("{}: [{}] has no key '{}'{}", origin, section, key, nearest_key(section, key)));
    }
    std::vector<const RunOption*> found;
    for (const RunOption& option : run_options())
      if (is_named(option, name)) found.push_back(&option);
    if (found.size() == 1) return found.front();
    if (found.empty())
      return invalid_argument(fmt::format("{}: there is no key '{}'{}", origin, name, nearest_key("", name)));
    return invalid_argument(
        fmt::format("{}: '{}' stands in several sections; did you mean '{}'?", origin, name, id_of(*found.front())));
  }

  bool is_given(const std::string& id) const { return config_.origins.contains(id); }

  void fill_defaults() {
    if (!is_given("optimizer.weight_decay") && config_.optimizer.name != "adamw") config_.optimizer.weight_decay = 0;
    if (!is_given("data.tokenizer") && config_.data.kind == "tokens") config_.data.tokenizer = "none";
    if (config_.run.folder.empty()) config_.run.folder = "runs/" + std::filesystem::path(name_).stem().string();
  }

  Status check_presence() const {
    for (const RunOption& option : run_options())
      if (option.is_required && !is_given(id_of(option)))
        return invalid_argument(
            fmt::format("{}: [{}] {} is missing; expected {}", name_, option.section, option.key, expected(option)));
    if (config_.data.train.empty())
      return invalid_argument(fmt::format("{} is empty; expected at least one path", config_.at("data", "train")));
    if (!config_.train.steps && !config_.train.epochs)
      return invalid_argument(fmt::format("{}: [train] steps or epochs is missing; give one of them", name_));
    if (config_.train.steps && config_.train.epochs)
      return invalid_argument(fmt::format("{} is given beside steps; give one of them", config_.at("train", "epochs")));
    if (!is_utf8(config_.run.folder))
      return invalid_argument(fmt::format(
          "{}: [run] folder is named after this file, whose name is not UTF-8; give a run.folder that is", name_));
    return {};
  }

  Status refuse(const char* section, const char* key, const std::string& why) const {
    return invalid_argument(config_.at(section, key) + " " + why);
  }

  /// What only several options together can break.
  Status check_together() const {
    const auto& [model, data, train, optimizer, schedule, memory, run, origins] = config_;
    if (data.seq_len > 0 && model.block_size > 0 && data.seq_len > model.block_size)
      return refuse("data", "seq_len",
                    fmt::format("is {}; expected at most the model's block_size, {}", data.seq_len, model.block_size));
    if (data.kind == "tokens" && data.tokenizer == "sentencepiece")
      return refuse("data", "tokenizer",
                    "is \"sentencepiece\", but token files hold no text to train one on; give the "
                    "path of the .model file that made the tokens");
    if (data.kind == "text" && data.tokenizer == "none")
      return refuse("data", "tokenizer",
                    "is \"none\", but text needs one; give \"bytes\", \"sentencepiece\", or the path of a .model file");
    if (train.sample_tokens > 0 && data.tokenizer == "none")
      return refuse("train", "sample_tokens",
                    "needs a tokenizer to write text with; give the path of the .model file that made the tokens as "
                    "[data] tokenizer, or leave sample_tokens out");
    if (train.batch_size > kMostCount / train.accumulate)
      return refuse("train", "batch_size",
                    fmt::format("× accumulate is {} × {}; expected a product ≤ {}", train.batch_size, train.accumulate,
                                kMostCount));
    if (optimizer.nesterov && (optimizer.momentum == 0 || optimizer.dampening != 0))
      return refuse("optimizer", "nesterov", "needs momentum above 0 and dampening 0");
    if (schedule.name == "inverse_sqrt" && schedule.warmup_steps == 0)
      return refuse("schedule", "name", "is \"inverse_sqrt\", which needs warmup_steps ≥ 1");
    if (schedule.min_lr > optimizer.lr)
      return refuse("schedule", "min_lr",
                    fmt::format("is {}; expected at most [optimizer] lr, {}", schedule.min_lr, optimizer.lr));
    // The updates that a decay goes over; there is at least one.
    const int64_t decaying = schedule.name == "linear" || schedule.name == "cosine" ? 1 : 0;
    if (train.steps && schedule.warmup_steps > *train.steps - decaying)
      return refuse("schedule", "warmup_steps",
                    fmt::format("is {}; expected at most {} of the {} [train] steps", schedule.warmup_steps,
                                *train.steps - decaying, *train.steps));
    return {};
  }

  const std::string& text_;
  std::string name_;
  RunConfig config_;
};

constexpr uintmax_t kLargestRunFile = 1 << 20;

}  // namespace

std::string RunConfig::at(const std::string& section, const std::string& key) const {
  const auto origin = origins.find(section + "." + key);
  return fmt::format("{}[{}] {}", origin == origins.end() ? "" : origin->second + ": ", section, key);
}

std::vector<std::string> changed_options(const RunConfig& then, const RunConfig& now) {
  std::vector<std::string> changes;
  for (const RunOption& option : run_options()) {
    const std::string before = applies(option, then) ? value_text(option, then) : "";
    const std::string after = applies(option, now) ? value_text(option, now) : "";
    if (before != after)
      changes.push_back(fmt::format("{} {} → {}", id_of(option), before.empty() ? "unused" : before,
                                    after.empty() ? "unused" : after));
  }
  return changes;
}

Result<RunConfig> try_parse_run_config(const std::string& text, const std::string& name,
                                       std::span<const std::string> overrides) {
  return Loader(text, name).load(overrides);
}

Result<RunConfig> try_load_run_config(const std::string& path, std::span<const std::string> overrides) {
  std::error_code fault;
  if (!std::filesystem::exists(path, fault)) return io_error("there is no run file '" + path + "'");
  if (std::filesystem::is_directory(path, fault))
    return io_error("'" + path + "' is a folder; expected a run file, such as " + path + "/run.toml");
  // A pipe or a device might never end.
  if (!std::filesystem::is_regular_file(path, fault))
    return io_error("'" + path + "' is no file that can be read whole");
  if (std::filesystem::file_size(path, fault) > kLargestRunFile)
    return invalid_argument("'" + path + "' has more than 1 MiB, so it is no run file");
  std::ifstream file(path, std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  if (!file.good() && !file.eof()) return io_error("the run file '" + path + "' cannot be read");
  return try_parse_run_config(text, path, overrides);
}

}  // namespace plimsoll::engine
