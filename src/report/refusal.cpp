#include "report/refusal.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "core/bytes.h"
#include "core/printable.h"

namespace plimsoll::report {
namespace {

using nlohmann::ordered_json;

constexpr size_t kMostHolders = 8;
/// A message with lists of what is known is half as long.
constexpr size_t kMostMessageBytes = 2000;

/// Rounded for reading, and to the byte for the next command line.
std::string exact(int64_t size) { return fmt::format("{} ({} bytes)", to_string(Bytes{size}), size); }

std::string remedy_text(const Infeasible& why, const Infeasible::Remedy& remedy) {
  const int64_t then = why.needed_bytes - remedy.saved_bytes;
  return fmt::format("    {}: {} less, then {}{}\n", printable(remedy.option), to_string(Bytes{remedy.saved_bytes}),
                     exact(then), then <= why.budget_bytes ? ", which fits" : "");
}

std::string infeasible_text(const Infeasible& why) {
  std::string text =
      fmt::format("  least budget    {}\n  given           {}\n", exact(why.needed_bytes), exact(why.budget_bytes));
  if (!why.tightest_step.empty()) text += fmt::format("  tightest step   {}\n", printable(why.tightest_step));
  if (!why.holders.empty()) text += "  largest there\n";
  for (size_t i = 0; i < why.holders.size() && i < kMostHolders; ++i)
    text +=
        fmt::format("    {:>10}  {}\n", to_string(Bytes{why.holders[i].size_bytes}), printable(why.holders[i].name));
  if (why.remedies.empty()) return text;
  text += "  what would help\n";
  bool fits = false;
  for (const Infeasible::Remedy& remedy : why.remedies) {
    text += remedy_text(why, remedy);
    fits = fits || why.needed_bytes - remedy.saved_bytes <= why.budget_bytes;
  }
  if (!fits) text += "    none of these is enough\n";
  return text;
}

}  // namespace

std::string to_text(const Error& error) {
  return printable(shortened(error.message, kMostMessageBytes)) + "\n" +
         (error.infeasible ? infeasible_text(*error.infeasible) : "");
}

std::string to_json(const Error& error) {
  ordered_json object;
  object["event"] = "error";
  object["error"] = to_string(error.code);
  object["message"] = error.message;
  if (error.infeasible) {
    const Infeasible& why = *error.infeasible;
    object["needed_bytes"] = why.needed_bytes;
    object["budget_bytes"] = why.budget_bytes;
    object["tightest_step"] = why.tightest_step;
    object["holders"] = ordered_json::array();
    for (size_t i = 0; i < why.holders.size() && i < kMostHolders; ++i)
      object["holders"].push_back({{"name", why.holders[i].name}, {"size_bytes", why.holders[i].size_bytes}});
    object["remedies"] = ordered_json::array();
    for (const auto& remedy : why.remedies)
      object["remedies"].push_back({{"option", remedy.option}, {"saved_bytes", remedy.saved_bytes}});
  }
  return object.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

}  // namespace plimsoll::report
