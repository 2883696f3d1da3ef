#include "apps/usage.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <vector>

#include "core/printable.h"
#include "core/suggest.h"

namespace plimsoll::apps {
namespace {

std::vector<std::string> command_names(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::App* sub : command.get_subcommands([](const CLI::App*) { return true; }))
    names.push_back(sub->get_name());
  return names;
}

std::vector<std::string> option_names(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    for (const std::string& name : option->get_snames()) names.push_back("-" + name);
  }
  return names;
}

std::string without_dashes(const std::string& word) {
  return word.substr(std::min(word.find_first_not_of('-'), word.size()));
}

bool is_option(const std::string& word) { return word.size() > 1 && word[0] == '-'; }

/// "; did you mean '--temperature'?" for "--temp" as for "--temprature". Where a command that is `chosen` has the very
/// option: "; it goes behind `plimsoll plan`".
std::string nearest_option(const std::string& word, const CLI::App& command, const std::string& path) {
  std::string later = path;
  for (const CLI::App* at = &command; !at->get_subcommands().empty();) {
    at = at->get_subcommands().front();
    later += " " + at->get_name();
    if (std::ranges::count(option_names(*at), word) > 0) return "; it goes behind `" + later + "`";
  }
  // Dashes are no likeness.
  const std::vector<std::string> names = option_names(command);
  std::vector<std::string> bare_names;
  for (const std::string& name : names) bare_names.push_back(without_dashes(name));
  const std::string* nearest = find_nearest(without_dashes(word), bare_names);
  if (nearest == nullptr) return "";
  return "; did you mean '" + names[static_cast<size_t>(nearest - bare_names.data())] + "'?";
}

/// `path`: the command as it is typed.
Error unknown_word(const CLI::App& command, const std::string& path, const std::string& word) {
  const std::vector<std::string> commands = command_names(command);
  if (is_option(word)) {
    const std::string name = word.substr(0, word.find('='));
    return invalid_argument(
        fmt::format("`{}` has no option {}{}", path, named(name), nearest_option(name, command, path)));
  }
  if (commands.empty()) return invalid_argument(fmt::format("`{}` has no use for a further {}", path, named(word)));
  return invalid_argument(fmt::format("`{}` has no command {}; it has {}{}", path, named(word),
                                      fmt::join(commands, ", "), suggest(word, commands)));
}

/// The parser's messages about values, which begin with the option, as sentences.
std::string in_words(const CLI::ParseError& fault) {
  std::string text = fault.what();
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&fault) == nullptr) return text;
  const std::string option = text.substr(0, text.find(':'));
  return option + (text.ends_with("missing") ? " needs a value" : " is given more than once");
}

}  // namespace

Error usage_error(const CLI::App& app, const CLI::ParseError& fault) {
  const bool is_of_words = dynamic_cast<const CLI::ExtrasError*>(&fault) != nullptr ||
                           dynamic_cast<const CLI::RequiredError*>(&fault) != nullptr;
  if (!is_of_words) return invalid_argument(in_words(fault));
  std::string path = "plimsoll";
  for (const CLI::App* command = &app;;) {
    const std::vector<std::string> words = command->remaining();
    const std::vector<CLI::App*> chosen = command->get_subcommands();
    // Behind an unknown command its options are unknown too, and an unknown option leaves its value over.
    const bool lacks_command = chosen.empty() && !command_names(*command).empty();
    const auto wrong = std::ranges::find_if(words, [&](const auto& word) { return is_option(word) != lacks_command; });
    if (wrong != words.end()) return unknown_word(*command, path, *wrong);
    if (!words.empty()) return unknown_word(*command, path, words.front());
    if (chosen.empty()) {
      if (const std::vector<std::string> commands = command_names(*command); !commands.empty())
        return invalid_argument(fmt::format("`{}` needs a command: {}", path, fmt::join(commands, ", ")));
      return invalid_argument(fmt::format("`{}` needs more: {}", path, fault.what()));
    }
    command = chosen.front();
    path += " " + command->get_name();
  }
}

}  // namespace plimsoll::apps
