#pragma once

#include <span>
#include <string>
#include <variant>
#include <vector>

#include "engine/run_file/run_config.h"

namespace plimsoll::engine {

/// The most that a count in a run file can be, so that the product of two of them stays in 64 bits.
inline constexpr int64_t kMostCount = 2'147'483'647;

/// An option's type: where its value is, and which values are allowed. `at` takes the member out of a config.
struct WholeOption {
  int64_t& (*at)(RunConfig&);
  int64_t least = 0;
  int64_t most = kMostCount;
};
struct OptionalWholeOption {
  std::optional<int64_t>& (*at)(RunConfig&);
  int64_t least = 1;
  int64_t most = kMostCount;
};
/// A range of real numbers; `least` and `most` belong to it where the claims say so.
struct RealRange {
  double least = 0;
  double most = 0;
  bool has_least = true;
  bool has_most = true;
  bool contains(double number) const;
};
struct RealOption {
  double& (*at)(RunConfig&);
  RealRange range;
};
struct RealPairOption {
  std::array<double, 2>& (*at)(RunConfig&);
  RealRange range;
};
struct TruthOption {
  bool& (*at)(RunConfig&);
};
struct TextOption {
  std::string& (*at)(RunConfig&);
  bool may_be_empty = false;
};
struct ChoiceOption {
  std::string& (*at)(RunConfig&);
  std::vector<std::string> choices;
};
struct PathsOption {
  std::vector<std::string>& (*at)(RunConfig&);
};
/// A size in bytes, or "auto".
struct SizeOption {
  std::optional<Bytes>& (*at)(RunConfig&);
};
using OptionType = std::variant<WholeOption, OptionalWholeOption, RealOption, RealPairOption, TruthOption, TextOption,
                                ChoiceOption, PathsOption, SizeOption>;

/// That an option has a meaning only where another option of its section is one of `values`, or is empty where there
/// are none.
struct OptionCondition {
  std::string key;  ///< of the other option; empty: always
  std::vector<std::string> values = {};

  /// "name sgd", "an empty valid": what messages say is needed.
  std::string need() const;
};

/// One key of the run file. Parsing, checks, messages, the printed config and docs/run_file.md all come from this.
struct RunOption {
  std::string section;
  std::string key;
  OptionType type;
  std::string doc;                   ///< one line: what it is, with unit and what 0 means
  bool is_required = false;          ///< has no default
  std::vector<std::string> aliases;  ///< other names that are accepted
  std::vector<std::string> hints;    ///< names that people may type first: not accepted, but answered with this key
  OptionCondition condition;
  std::string default_note;  ///< what the docs print as default, where the member's own value would mislead
};

/// All options, by section in the order of the file.
std::span<const RunOption> run_options();

/// "a whole number ≥ 1", "one of 'sgd', 'adam', 'adamw'", …
std::string expected(const RunOption& option);

/// Text and numbers as TOML has them: quoted and escaped; the shortest digits that read back to the same number.
std::string to_toml_value(const std::string& text);
std::string to_toml_value(double number);

/// The option's value in TOML; "" where it has none.
std::string value_text(const RunOption& option, const RunConfig& config);

/// Whether the option has a meaning in this config.
bool applies(const RunOption& option, const RunConfig& config);

/// The option table as the Markdown page docs/run_file.md.
std::string document_options();

}  // namespace plimsoll::engine
