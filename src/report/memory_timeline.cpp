#include "report/memory_timeline.h"

namespace plimsoll::report {

MemoryTimeline::MemoryTimeline(const program::Program& program) {
  starts_.push_back(0);
  for (const program::Segment& segment : program.segments)
    starts_.push_back(starts_.back() + segment.instructions.size());
  for (auto& space : alive_) space.assign(size() + 1, CategoryBytes{});
  for (const program::Residence& residence : program.residences) {
    const auto space = static_cast<size_t>(residence.space);
    const auto category = static_cast<size_t>(program.buffers[static_cast<size_t>(residence.buffer)].category);
    const int64_t size = residence.size_bytes() * residence.slots;
    uses_[space] = true;
    alive_[space][position(residence.first)][category] += size;
    alive_[space][position(residence.last)][category] -= size;
  }
  // So far each place holds what changes there.
  for (auto& space : alive_)
    for (size_t i = 1; i < space.size(); ++i)
      for (size_t category = 0; category < kCategoryCount; ++category) space[i][category] += space[i - 1][category];
}

}  // namespace plimsoll::report
