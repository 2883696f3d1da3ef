#pragma once

#include <string>
#include <vector>

#include "program/program.h"

namespace plimsoll::program {

/// A titled list of lines without their numbers.
struct Section {
  std::string title;
  std::vector<std::string> lines;
  friend bool operator==(const Section&, const Section&) = default;
};

/// The program for people, by section: summary, kernels, buffers, residences, each segment, entry and exit state,
/// outputs.
std::vector<Section> to_sections(const Program& program);

/// The same as one text, lines numbered as the program's lists are:
///
///     segment 'step' × 4
///       12 compute matmul 'fc' reads 'x' v1 [0,4096) host@64; writes 'y' v1 [0,8192) host@4160; waits for
///       host_to_device 0
std::string to_text(const Program& program);

/// A line that only one of two programs has.
struct Difference {
  std::string section;
  bool is_added = false;  ///< in the second program; otherwise in the first
  std::string line;
  friend bool operator==(const Difference&, const Difference&) = default;
};

/// What must be removed from `a` and added to make `b`, in order, as few lines as can be (in blocks of more than 4,000
/// changed lines: all of them). Segments are compared by position, and lines name buffers and kernels, so that one
/// more buffer or kernel changes no other line. One more instruction changes those that say where they stand: waits for
/// later ones of its lane, and lifetimes.
std::vector<Difference> diff(const Program& a, const Program& b);

}  // namespace plimsoll::program
