#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "engine/run_file/run_options.h"

namespace plimsoll::engine {
namespace {

/// One visitor out of several lambdas.
template <class... Fs>
struct Overloaded : Fs... {
  using Fs::operator()...;
};
template <class... Fs>
Overloaded(Fs...) -> Overloaded<Fs...>;

/// In the largest binary unit that divides it.
std::string size_text(Bytes size) {
  int64_t amount = size.value;
  size_t unit = 0;
  constexpr std::array<const char*, 4> kUnits{"", "KiB", "MiB", "GiB"};
  while (unit + 1 < kUnits.size() && amount % 1024 == 0 && amount != 0) {
    amount /= 1024;
    ++unit;
  }
  return unit == 0 ? fmt::format("{}", amount) : fmt::format("\"{}{}\"", amount, kUnits[unit]);
}

std::string quoted(const std::string& text) { return to_toml_value(text); }
std::string real_text(double number) { return to_toml_value(number); }

template <class Values, class Format>
std::string join_list(const Values& values, Format format) {
  std::vector<std::string> parts;
  parts.reserve(values.size());
  for (const auto& value : values) parts.push_back(format(value));
  return fmt::format("{}", fmt::join(parts, ", "));
}

template <class Values, class Format>
std::string list_text(const Values& values, Format format) {
  return "[" + join_list(values, format) + "]";
}

std::string whole_range(const char* what, int64_t least, int64_t most) {
  if (most >= kMostCount) return fmt::format("{} ≥ {}", what, least);
  return fmt::format("{} in {}..{}", what, least, most);
}

std::string real_range(const char* what, const RealRange& range) {
  const char* above = range.has_least ? "≥" : ">";
  if (std::isinf(range.most)) return fmt::format("{} {} {}", what, above, range.least);
  return fmt::format("{} {} {} and {} {}", what, above, range.least, range.has_most ? "≤" : "<", range.most);
}

std::string docs_intro() {
  return "# The run file\n"
         "\n"
         "<!-- Generated from the option table, src/engine/run_file/run_options.cpp; a test compares the two. After a "
         "change "
         "there:\n"
         "     PLIMSOLL_WRITE_DOCS=1 ctest --preset dev -R engine -->\n"
         "\n"
         "`plimsoll train RUN.toml` reads one TOML file. Every option of it can be given on the command line too:\n"
         "`--set train.batch_size=16`, or `--set batch_size=16` where one section alone has the key. What was in "
         "force,\n"
         "defaults included, is written to `run.toml` in the run folder, which is itself a run file.\n"
         "\n"
         "A key of the file that has no use beside an override is forgotten: `--set optimizer.name=sgd` goes well with "
         "betas "
         "in the file.\n"
         "\n"
         "A key that does not exist, a value of the wrong type or out of range, and an option that the chosen "
         "optimizer,\n"
         "schedule, tokenizer or model has no use for end the run before anything is read, with file, line and key.\n";
}

std::string condition_text(const RunOption& option) {
  const OptionCondition& condition = option.condition;
  if (condition.key.empty()) return "";
  if (condition.values.empty()) return fmt::format(" Only where `{}` is empty.", condition.key);
  return fmt::format(" Only where `{}` is {}.", condition.key, fmt::join(condition.values, " or "));
}

/// `value`: the other option's, in TOML.
bool holds(const OptionCondition& condition, const std::string& value) {
  if (condition.values.empty()) return value == "[]" || value == quoted("");
  return std::ranges::any_of(condition.values, [&](const auto& v) { return quoted(v) == value; });
}

std::string default_text(const RunOption& option, const RunConfig& defaults) {
  if (option.is_required) return "none: required";
  if (!option.default_note.empty()) return option.default_note;
  return fmt::format("`{}`", value_text(option, defaults));
}

std::string alias_text(const RunOption& option) {
  return option.aliases.empty() ? "" : fmt::format(" Also `{}`.", fmt::join(option.aliases, "`, `"));
}

}  // namespace

std::string to_toml_value(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    switch (c) {
      case '"': out += "\\\""; break;
      case '\\': out += "\\\\"; break;
      case '\n': out += "\\n"; break;
      case '\t': out += "\\t"; break;
      case '\r': out += "\\r"; break;
      case '\f': out += "\\f"; break;
      case '\b': out += "\\b"; break;
      default:
        if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f)
          out += fmt::format("\\u{:04X}", static_cast<unsigned char>(c));
        else
          out += c;
    }
  }
  return out + '"';
}

std::string to_toml_value(double number) {
  std::string text = fmt::format("{}", number);
  // A whole number, inf and nan have none of these; TOML takes the last two for real numbers as they are.
  if (std::isfinite(number) && text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

bool RealRange::contains(double number) const {
  const bool above = has_least ? number >= least : number > least;
  const bool below = has_most ? number <= most : number < most;
  return above && below;  // false for NaN, and for infinity where no end is in the range
}

std::string expected(const RunOption& option) {
  return std::visit(
      Overloaded{[](const WholeOption& o) { return whole_range("a whole number", o.least, o.most); },
                 [](const OptionalWholeOption& o) { return whole_range("a whole number", o.least, o.most); },
                 [](const RealOption& o) { return real_range("a number", o.range); },
                 [](const RealPairOption& o) { return real_range("a list of two numbers, each", o.range); },
                 [](const TruthOption&) { return std::string("true or false"); },
                 [](const TextOption& o) { return std::string(o.may_be_empty ? "text" : "text that is not empty"); },
                 [](const ChoiceOption& o) { return "one of " + join_list(o.choices, quoted); },
                 [](const PathsOption&) { return std::string("a path or a list of paths"); },
                 [](const SizeOption&) {
                   return std::string("\"auto\", or a size above 0: bytes, or a number and a unit such as \"2GiB\"");
                 }},
      option.type);
}

std::string value_text(const RunOption& option, const RunConfig& config) {
  // The table gives access for reading and writing alike; here it is only read.
  auto& c = const_cast<RunConfig&>(config);
  const auto whole = [](int64_t number) { return fmt::format("{}", number); };
  return std::visit(
      Overloaded{[&](const WholeOption& o) { return whole(o.at(c)); },
                 [&](const OptionalWholeOption& o) { return o.at(c) ? whole(*o.at(c)) : std::string(); },
                 [&](const RealOption& o) { return real_text(o.at(c)); },
                 [&](const RealPairOption& o) { return list_text(o.at(c), real_text); },
                 [&](const TruthOption& o) { return std::string(o.at(c) ? "true" : "false"); },
                 [&](const TextOption& o) { return quoted(o.at(c)); },
                 [&](const ChoiceOption& o) { return quoted(o.at(c)); },
                 [&](const PathsOption& o) { return list_text(o.at(c), quoted); },
                 [&](const SizeOption& o) { return o.at(c) ? size_text(*o.at(c)) : std::string("\"auto\""); }},
      option.type);
}

bool applies(const RunOption& option, const RunConfig& config) {
  if (option.condition.key.empty()) return true;
  for (const RunOption& other : run_options()) {
    if (other.section != option.section || other.key != option.condition.key) continue;
    return holds(option.condition, value_text(other, config));
  }
  return true;
}

std::string OptionCondition::need() const {
  if (values.empty()) return "an empty " + key;
  return fmt::format("{} {}", key, fmt::join(values, " or "));
}

std::string document_options() {
  const RunConfig defaults;
  std::string page = docs_intro();
  std::string section;
  for (const RunOption& option : run_options()) {
    if (option.section != section) {
      section = option.section;
      page += fmt::format("\n## [{}]\n\n| key | allowed | default | meaning |\n|---|---|---|---|\n", section);
    }
    page += fmt::format("| `{}` | {} | {} | {}{}{} |\n", option.key, expected(option), default_text(option, defaults),
                        option.doc, condition_text(option), alias_text(option));
  }
  return page;
}

std::string to_toml(const RunConfig& config) {
  std::string text = "# Every option that was in force; `plimsoll train` reads this file like any other run file.\n";
  std::string section;
  for (const RunOption& option : run_options()) {
    const std::string value = value_text(option, config);
    if (value.empty() || !applies(option, config)) continue;
    if (option.section != section) {
      section = option.section;
      text += fmt::format("\n[{}]\n", section);
    }
    text += fmt::format("{} = {}\n", option.key, value);
  }
  return text;
}

}  // namespace plimsoll::engine
