#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "report/memory_timeline.h"

namespace plimsoll::report {

/// Where a run stands.
struct Progress {
  int64_t step = 0;  ///< updates done
  int64_t steps = 0;
  double loss = 0;
  std::optional<double> validation_loss{};
  double lr = 0;
  double tokens_per_s = 0;
  double eta_s = 0;
  CategoryBytes memory_bytes{};  ///< held now, as the ledger has it
};

/// What a line is written to.
struct Terminal {
  bool is_terminal = false;  ///< false: a file or a pipe, which gets no colour and no line that is overwritten
  int columns = 80;
};

/// "step 120/2000 | loss 3.2145 | 11.2 k tokens/s | ETA 2 min 40 s | 31.0 MiB: parameters 4.80 MiB, …"
std::string progress_line(const Progress& progress);

/// The same with what the output needs around it: a terminal gets a line that overwrites the last one, cut to its
/// width, the loss in bold; anything else the whole line and a line end.
std::string to_output(const Progress& progress, const Terminal& terminal);

/// Text for a terminal's width: at most `columns` characters (UTF-8 code points), "…" for what was cut off.
std::string cut_to_width(const std::string& text, int columns);

}  // namespace plimsoll::report
