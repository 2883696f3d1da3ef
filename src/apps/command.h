#pragma once

#include <functional>
#include <memory>
#include <string>

#include "core/result.h"

namespace CLI {  // NOLINT(readability-identifier-naming): the library's name
class App;
class Option;
}  // namespace CLI

namespace plimsoll::apps {

/// What a command does once its options are parsed; its Status becomes the exit code.
using Action = std::function<Status()>;

/// What is wrong with the text given as an option's value, in one line; "" where nothing is.
using Check = std::function<std::string(const std::string&)>;

/// An option of a command, as a handle: it lives as long as the CommandLine.
class Option {
 public:
  explicit Option(CLI::Option* option) : option_(option) {}

  Option& required();
  Option& check(const Check& check);

  /// Not beside `other`.
  Option& excludes(const Option& other);

 private:
  CLI::Option* option_;
};

/// A command with its options and commands, as a handle: it lives as long as the CommandLine. CLI11 stands behind it,
/// and only there, as its headers cost 8 s of compiling in every file that includes them.
class Command {
 public:
  Command(CLI::App* app, Action* chosen) : app_(app), chosen_(chosen) {}

  Command add_command(const std::string& name, const std::string& description);

  /// It does nothing by itself: one of its own commands must follow.
  void require_command();

  /// `names` as in "--batch,--batch_size", or one without dashes for what is given by its place. `value` holds what is
  /// given, and before it the default that --help shows; it outlives the CommandLine. T: std::string, double, int,
  /// int64_t, uint64_t, std::optional of std::string, int or int64_t, or std::vector<std::string>, which takes the
  /// option any number of times.
  template <typename T>
  Option add_option(const std::string& names, T& value, const std::string& description);

  /// An option without a value: `value` becomes true.
  Option add_flag(const std::string& names, bool& value, const std::string& description);

  /// What --help ends with: examples.
  void footer(const std::string& text);

  /// What the CommandLine returns where this command is chosen.
  void action(const Action& action);

 private:
  CLI::App* app_;
  Action* chosen_;
};

/// The whole command line.
class CommandLine {
 public:
  CommandLine(const std::string& description, const std::string& version, const std::string& footer);
  ~CommandLine();

  Command root() { return {app_.get(), &chosen_}; }

  /// The action of the command that is chosen; --help and --version are printed, and leave nothing to do. Errors:
  /// invalid_argument, which names the nearest option or command that there is.
  Result<Action> parse(int argc, char** argv);

 private:
  std::unique_ptr<CLI::App> app_;
  Action chosen_;
};

}  // namespace plimsoll::apps
