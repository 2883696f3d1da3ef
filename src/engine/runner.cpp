#include "engine/runner.h"

#include <algorithm>
#include <cstring>

namespace plimsoll::engine {

Runner::Runner(const CompiledProgram& compiled, Environment& environment, std::byte* arena)
    : compiled_(compiled),
      executor_(compiled.program(), {.kernels = compiled.kernels(environment.catalogue()),
                                     .arenas = {nullptr, arena, nullptr, nullptr},
                                     .backend = &environment.backend()}),
      scalars_(compiled.lowered.scalars.size()) {
  feeds_[kScalarFeed] = {reinterpret_cast<const std::byte*>(scalars_.data()), 0};
  for (const auto& [label, constant] : compiled.lowered.feeds) feeds_[label] = {constant.data(), 0};
  for (const program::Segment& segment : compiled.program().segments) {
    std::vector<Feed*>& row = feed_of_.emplace_back();
    for (const program::Instruction& instruction : segment.instructions)
      row.push_back(instruction.kind == program::Kind::kFeed ? &feeds_.at(instruction.label) : nullptr);
  }
  microbatch_ = reinterpret_cast<int64_t*>(scalar("microbatch"));
}

std::byte* Runner::scalar(std::string_view name) {
  const auto& names = compiled_.lowered.scalars;
  const auto it = std::find(names.begin(), names.end(), name);
  if (it == names.end()) return nullptr;
  return reinterpret_cast<std::byte*>(&scalars_[static_cast<size_t>(it - names.begin())]);
}

void Runner::set_scalar(std::string_view name, float value) {
  if (std::byte* where = scalar(name); where != nullptr) std::memcpy(where, &value, sizeof value);
}

void Runner::set_scalar(std::string_view name, int64_t value) {
  if (std::byte* where = scalar(name); where != nullptr) std::memcpy(where, &value, sizeof value);
}

void Runner::set_feed(std::string_view name, const void* data, int64_t stride_bytes) {
  if (const auto it = feeds_.find(name); it != feeds_.end())
    it->second = {static_cast<const std::byte*>(data), stride_bytes};
}

const void* Runner::feed(runtime::InstructionId id, int64_t iteration) {
  if (microbatch_ != nullptr) *microbatch_ = iteration;
  const Feed& feed = *feed_of_[static_cast<size_t>(id.segment)][static_cast<size_t>(id.index)];
  PLIMSOLL_CHECK(feed.data != nullptr, "an input was not fed");
  return feed.data + iteration * feed.stride_bytes;
}

runtime::Outcome Runner::run(TraceSink* trace) {
  return executor_.run([this](runtime::InstructionId id, int64_t iteration) { return feed(id, iteration); }, trace);
}

const program::Output* Runner::find_output(std::string_view name) const {
  const auto& outputs = compiled_.program().outputs;
  const auto it = std::find_if(outputs.begin(), outputs.end(), [&](const auto& output) { return output.name == name; });
  return it == outputs.end() ? nullptr : &*it;
}

const std::byte* Runner::output(std::string_view name) const {
  const program::Output* output = find_output(name);
  PLIMSOLL_CHECK(output != nullptr, "no output ", name);
  const program::Residence& residence = compiled_.program().residences[static_cast<size_t>(output->residence)];
  return executor_.address(output->residence) + (output->begin_bytes - residence.begin_bytes);
}

float Runner::scalar_output(std::string_view name) const {
  float value = 0;
  std::memcpy(&value, output(name), sizeof value);
  return value;
}

}  // namespace plimsoll::engine
