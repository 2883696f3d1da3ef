#include "report/progress.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "core/bytes.h"
#include "report/quantities.h"

namespace plimsoll::report {
namespace {

std::string memory_text(const CategoryBytes& bytes) {
  std::vector<size_t> order(kCategoryCount);
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, std::greater<>(), [&](size_t i) { return bytes[i]; });
  std::string text = to_string(Bytes{std::accumulate(bytes.begin(), bytes.end(), int64_t{0})});
  const char* before = ": ";
  for (const size_t i : order) {
    if (bytes[i] == 0) break;
    const std::string name = to_words(to_string(static_cast<Category>(i)));
    text += fmt::format("{}{} {}", before, name, to_string(Bytes{bytes[i]}));
    before = ", ";
  }
  return text;
}

std::string loss_text(const Progress& progress) { return fmt::format("loss {:.4f}", progress.loss); }

/// What stands behind the loss.
std::string tail(const Progress& progress) {
  const std::string validation =
      progress.validation_loss ? fmt::format(" | validation {:.4f}", *progress.validation_loss) : "";
  return fmt::format("{} | lr {:.2e} | {} | ETA {} | {}", validation, progress.lr,
                     to_rate(progress.tokens_per_s, "tokens"), to_duration(progress.eta_s),
                     memory_text(progress.memory_bytes));
}

std::string head(const Progress& progress) {
  return fmt::format("step {:>{}}/{} | ", progress.step, fmt::formatted_size("{}", progress.steps), progress.steps);
}

bool starts_character(char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }

}  // namespace

std::string progress_line(const Progress& progress) { return head(progress) + loss_text(progress) + tail(progress); }

std::string cut_to_width(const std::string& text, int columns) {
  const auto width = std::ranges::count_if(text, starts_character);
  if (width <= columns) return text;
  if (columns <= 0) return "";
  size_t end = 0;
  // Characters kept: one fewer than there is room, for the ellipsis.
  for (int kept = -1; end < text.size(); ++end)
    if (starts_character(text[end]) && ++kept == columns - 1) break;
  return text.substr(0, end) + "…";
}

std::string to_output(const Progress& progress, const Terminal& terminal) {
  if (!terminal.is_terminal) return progress_line(progress) + "\n";
  const std::string line = cut_to_width(progress_line(progress), terminal.columns - 1);
  const std::string loss = loss_text(progress);
  const size_t at = line.find(loss);
  const std::string shown = at == std::string::npos
                                ? line
                                : line.substr(0, at) + "\x1b[1m" + loss + "\x1b[0m" + line.substr(at + loss.size());
  return "\r" + shown + "\x1b[K";
}

}  // namespace plimsoll::report
