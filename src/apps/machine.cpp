// plimsoll machine: what this machine has, and what it was measured to do.
#include <cstdio>
#include <memory>

#include "apps/command.h"
#include "apps/shared_options.h"
#include "backends/cpu/onednn_rate.h"
#include "engine/environment/environment.h"
#include "engine/environment/matmul_rate.h"
#include "hardware/instruction_sets.h"
#include "hardware/measure.h"
#include "hardware/probe.h"
#include "hardware/probe_memory.h"

namespace plimsoll::apps {
namespace {

struct Options {
  std::string folder = ".";
  bool quick = false;
  bool json = false;
};

void print(bool json, const nlohmann::ordered_json& fields) {
  if (json) return print_json(fields);
  std::string line;
  for (const auto& [name, value] : fields.items())
    line += (line.empty() ? "" : "  ") + name + " " + (value.is_string() ? value.get<std::string>() : value.dump());
  std::printf("%s\n", line.c_str());
  std::fflush(stdout);
}

/// A size in bytes for programs, in words for people.
std::pair<std::string, nlohmann::ordered_json> size_field(const std::string& name, Bytes size, bool json) {
  if (json) return {name + "_bytes", size.value};
  return {name, to_string(size)};
}

/// One thread of oneDNN; no op of ours has these types yet.
void print_library_rate(bool json, const char* dtype, backends::cpu::ProductTypes types) {
  const double rate = backends::cpu::measure_onednn_rate(types);
  nlohmann::ordered_json fields{{"measured", "matmul"}, {"dtype", dtype}, {"threads", 1}};
  if (rate > 0)
    fields["gflops_per_s"] = rate / 1e9;
  else
    fields["unavailable"] = "oneDNN has no kernel for this processor";
  print(json, fields);
}

Status print_measured(const Options& o, const hardware::Cores& cores) {
  PLIMSOLL_ASSIGN(auto environment, engine::Environment::make({}));
  std::fprintf(stderr, "measuring memory, disk and matrix products, about 10 s …\n");
  PLIMSOLL_ASSIGN(const auto memory, hardware::try_measure_memory(cores, environment->pool()));
  for (const auto& row : memory.bandwidths)
    print(o.json, {{"measured", "memory"},
                   {"threads", row.threads},
                   {"read_gb_per_s", row.read.value / 1e9},
                   {"copy_gb_per_s", row.copy.value / 1e9}});
  for (const auto& row : memory.latencies)
    print(o.json, {{"measured", "latency"},
                   size_field("working_set", row.working_set, o.json),
                   {"level", row.level},
                   {"latency_ns", row.latency_ns}});
  print(o.json, {{"measured", "first_touch"},
                 {"small_page_ns", memory.first_touch.small_page_ns},
                 {"huge_page_ns_per_4_kib", memory.first_touch.huge_page_ns}});
  for (const int threads : {1, cores.usable}) {
    PLIMSOLL_ASSIGN(auto one, engine::Environment::make({.threads = threads}));
    print(o.json, {{"measured", "matmul"},
                   {"dtype", "f32"},
                   {"threads", threads},
                   {"gflops_per_s", engine::measure_matmul_flops(*one) / 1e9}});
    if (cores.usable == 1) break;
  }
  print_library_rate(o.json, "bf16", backends::cpu::ProductTypes::kBf16);
  print_library_rate(o.json, "u8s8", backends::cpu::ProductTypes::kU8S8);
  const auto disk = hardware::try_measure_disk(o.folder, mebibytes(256));
  if (!disk.ok()) return disk.error();
  print(o.json, {{"measured", "disk"},
                 {"folder", o.folder},
                 {"cached_because", disk->cached_because.value_or("")},
                 {"read_mb_per_s", disk->read.value / 1e6},
                 {"write_mb_per_s", disk->write.value / 1e6},
                 {"latency_us", disk->latency_ns / 1e3}});
  return {};
}

Status run(const Options& o) {
  PLIMSOLL_ASSIGN(const hardware::Machine machine, hardware::try_probe_machine(o.folder));
  print(o.json, {{"processor", machine.cores.model},
                 {"cores", machine.cores.usable},
                 {"instruction_sets", to_string(hardware::probe_instruction_sets())}});
  for (const auto& space : machine.spaces)
    print(o.json, {{"space", space.name}, size_field("capacity", space.capacity, o.json)});
  PLIMSOLL_ASSIGN(const Bytes available, hardware::available_ram());
  print(o.json, {size_field("available_ram", available, o.json)});
  return o.quick ? Status() : print_measured(o, machine.cores);
}

}  // namespace

void add_machine(CLI::App& app, Action& action) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("machine", "Probe this machine: memory, cores, disk, and measured rates");
  command->add_option("--disk", options->folder, "A folder on the disk to measure");
  command->add_flag("--quick", options->quick, "Only what can be read, nothing measured");
  add_json_option(*command, options->json);
  command->footer(
      "Examples:\n  plimsoll machine\n  plimsoll machine --quick --json\n  plimsoll machine --disk /mnt/fast");
  command->callback([options, &action] { action = [options] { return run(*options); }; });
}

}  // namespace plimsoll::apps
