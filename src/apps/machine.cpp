// plimsoll machine: what this machine has, and what it was measured to do.
#include <cstdio>
#include <memory>

#include "apps/commands.h"
#include "apps/fields.h"
#include "apps/messages.h"
#include "apps/shared_options.h"
#include "backends/cpu/onednn_rate.h"
#include "core/printable.h"
#include "engine/environment/environment.h"
#include "engine/environment/matmul_rate.h"
#include "hardware/instruction_sets.h"
#include "hardware/measure.h"
#include "hardware/probe.h"
#include "hardware/probe_memory.h"
#include "report/quantities.h"

namespace plimsoll::apps {
namespace {

struct Options {
  std::string folder = ".";
  bool quick = false;
  bool json = false;
};

/// One fact: an object for programs, whose "event" says which; a name and words for people.
void print(bool json, const Fields& fields, const std::string& name, const std::string& words) {
  if (json) return print_json(fields);
  std::printf("%-24s %s\n", name.c_str(), printable(words).c_str());
  std::fflush(stdout);
}

std::string on_threads(const std::string& what, int threads) {
  return what + ", " + std::to_string(threads) + (threads == 1 ? " thread" : " threads");
}

void print_memory(bool json, const hardware::MemoryMeasurement& memory) {
  for (const auto& row : memory.bandwidths)
    print(
        json,
        {{"event", "memory"},
         {"threads", row.threads},
         {"read_gb_per_s", row.read.value / 1e9},
         {"copy_gb_per_s", row.copy.value / 1e9}},
        on_threads("memory", row.threads),
        "read " + report::to_quantity(row.read.value, "B/s") + ", copy " + report::to_quantity(row.copy.value, "B/s"));
  for (const auto& row : memory.latencies)
    print(json,
          {{"event", "latency"},
           {"working_set_bytes", row.working_set.value},
           {"level", row.level},
           {"latency_ns", row.latency_ns}},
          "latency within " + to_string(row.working_set),
          report::to_duration(row.latency_ns * 1e-9) + " (" + row.level + ")");
  const auto& touch = memory.first_touch;
  print(json,
        {{"event", "first_touch"},
         {"small_page_ns", touch.small_page_ns},
         {"huge_page_ns_per_4_kib", touch.huge_page_ns}},
        "first touch of 4 KiB",
        report::to_duration(touch.small_page_ns * 1e-9) + " as a small page, " +
            report::to_duration(touch.huge_page_ns * 1e-9) + " within a huge one");
}

/// One thread of oneDNN, beside our own products and for types that no op of ours has yet.
void print_library_rate(bool json, const char* dtype, const char* unit, backends::cpu::ProductTypes types) {
  const double rate = backends::cpu::measure_onednn_rate(types);
  Fields fields{{"event", "library_matmul"}, {"library", "oneDNN"}, {"dtype", dtype}, {"threads", 1}};
  std::string words;
  if (rate > 0) {
    fields.push_back({"gflops_per_s", rate / 1e9});
    words = report::to_quantity(rate, unit);
  } else {
    fields.push_back({"unavailable", "oneDNN has no kernel for this processor"});
    words = "not available: oneDNN has no kernel for this processor";
  }
  print(json, fields, on_threads(std::string("oneDNN ") + dtype, 1), words);
}

Status print_products(bool json, const hardware::Cores& cores) {
  for (const int threads : {1, cores.usable}) {
    PLIMSOLL_ASSIGN(auto environment, engine::Environment::make({.threads = threads}));
    const double rate = engine::measure_matmul_flops(*environment);
    print(json, {{"event", "matmul"}, {"dtype", "f32"}, {"threads", threads}, {"gflops_per_s", rate / 1e9}},
          on_threads("matmul f32", threads), report::to_quantity(rate, "FLOP/s"));
    if (cores.usable == 1) break;
  }
  print_library_rate(json, "f32", "FLOP/s", backends::cpu::ProductTypes::kF32);
  print_library_rate(json, "bf16", "FLOP/s", backends::cpu::ProductTypes::kBf16);
  print_library_rate(json, "u8s8", "OP/s", backends::cpu::ProductTypes::kU8S8);
  return {};
}

Status print_disk(const Options& o) {
  PLIMSOLL_ASSIGN(const auto disk, hardware::try_measure_disk(o.folder, mebibytes(256)));
  Fields fields{{"event", "disk"}, {"folder", o.folder}};
  std::string words = "read " + report::to_quantity(disk.read.value, "B/s") + ", write " +
                      report::to_quantity(disk.write.value, "B/s") + ", latency " +
                      report::to_duration(disk.latency_ns * 1e-9) + ", in " + named(o.folder);
  if (disk.cached_because) {
    fields.push_back({"cached_because", *disk.cached_because});
    words += ", through the page cache: " + *disk.cached_because;
  }
  fields.push_back({"read_mb_per_s", disk.read.value / 1e6});
  fields.push_back({"write_mb_per_s", disk.write.value / 1e6});
  fields.push_back({"latency_us", disk.latency_ns / 1e3});
  print(o.json, fields, "disk", words);
  return {};
}

Status print_measured(const Options& o, const hardware::Cores& cores) {
  print_note("measuring memory, disk and matrix products, about 10 s …", o.json);
  PLIMSOLL_ASSIGN(auto environment, engine::Environment::make({}));
  PLIMSOLL_ASSIGN(const auto memory, hardware::try_measure_memory(cores, environment->pool()));
  print_memory(o.json, memory);
  PLIMSOLL_RETURN_IF_ERROR(print_products(o.json, cores));
  return print_disk(o);
}

Status run(const Options& o) {
  PLIMSOLL_ASSIGN(const hardware::Machine machine, hardware::try_probe_machine(o.folder));
  const std::string sets = to_string(hardware::probe_instruction_sets());
  print(o.json,
        {{"event", "processor"},
         {"processor", machine.cores.model},
         {"cores", machine.cores.usable},
         {"instruction_sets", sets}},
        "processor", machine.cores.model + ", " + std::to_string(machine.cores.usable) + " usable cores, " + sets);
  for (const auto& space : machine.spaces)
    print(o.json, {{"event", "space"}, {"space", space.name}, {"capacity_bytes", space.capacity.value}}, space.name,
          to_string(space.capacity));
  PLIMSOLL_ASSIGN(const Bytes available, hardware::available_ram());
  print(o.json, {{"event", "available_ram"}, {"available_ram_bytes", available.value}}, "available RAM",
        to_string(available));
  return o.quick ? Status() : print_measured(o, machine.cores);
}

}  // namespace

void add_machine(Command& root) {
  auto options = std::make_shared<Options>();
  Command command = root.add_command("machine", "Probe this machine: memory, cores, disk, and measured rates");
  command.add_option("--disk", options->folder, "A folder on the disk to measure");
  command.add_flag("--quick", options->quick, "Only what can be read, nothing measured");
  add_json_option(command, options->json);
  command.footer(
      "Examples:\n  plimsoll machine\n  plimsoll machine --quick --json\n  plimsoll machine --disk /mnt/fast");
  command.action([options] { return run(*options); });
}

}  // namespace plimsoll::apps
