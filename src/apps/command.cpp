#include "apps/command.h"

#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>
#include <vector>

#include "apps/usage.h"

namespace plimsoll::apps {

Option& Option::required() {
  option_->required();
  return *this;
}

Option& Option::check(const Check& check) {
  option_->check(CLI::Validator(check, ""));
  return *this;
}

Option& Option::excludes(const Option& other) {
  option_->excludes(other.option_);
  return *this;
}

Command Command::add_command(const std::string& name, const std::string& description) {
  return {app_->add_subcommand(name, description), chosen_};
}

void Command::require_command() { app_->require_subcommand(1); }

template <typename T>
Option Command::add_option(const std::string& names, T& value, const std::string& description) {
  CLI::Option* option = app_->add_option(names, value, description);
  if (option->get_default_str() == "[]") option->default_str("");  // an empty list is no default to show
  return Option(option);
}

template Option Command::add_option(const std::string&, std::string&, const std::string&);
template Option Command::add_option(const std::string&, double&, const std::string&);
template Option Command::add_option(const std::string&, int&, const std::string&);
template Option Command::add_option(const std::string&, int64_t&, const std::string&);
template Option Command::add_option(const std::string&, uint64_t&, const std::string&);
template Option Command::add_option(const std::string&, std::optional<std::string>&, const std::string&);
template Option Command::add_option(const std::string&, std::optional<int>&, const std::string&);
template Option Command::add_option(const std::string&, std::optional<int64_t>&, const std::string&);
template Option Command::add_option(const std::string&, std::vector<std::string>&, const std::string&);

Option Command::add_flag(const std::string& names, bool& value, const std::string& description) {
  return Option(app_->add_flag(names, value, description));
}

void Command::footer(const std::string& text) { app_->footer(text); }

void Command::action(const Action& action) {
  app_->callback([chosen = chosen_, action] { *chosen = action; });
}

CommandLine::CommandLine(const std::string& description, const std::string& version, const std::string& footer)
    : app_(std::make_unique<CLI::App>(description)) {
  app_->option_defaults()->always_capture_default();  // --help shows them
  app_->set_version_flag("--version", version);
  app_->footer(footer);
}

CommandLine::~CommandLine() = default;

Result<Action> CommandLine::parse(int argc, char** argv) {
  try {
    app_->parse(argc, argv);
  } catch (const CLI::ParseError& fault) {
    if (fault.get_exit_code() != 0) return usage_error(*app_, fault);
    app_->exit(fault);
    return Action([] { return Status(); });
  }
  return chosen_;
}

}  // namespace plimsoll::apps
