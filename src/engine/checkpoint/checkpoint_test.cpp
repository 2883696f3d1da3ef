#include "engine/checkpoint/checkpoint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <span>
#include <sstream>
#include <thread>

#include "core/philox.h"
#include "engine/checkpoint/checkpoint_folder.h"
#include "formats/crc32c.h"

namespace plimsoll::engine {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

constexpr uint64_t kModelHash = 0xfedcba9876543210ULL;

// Tensors of a small model whose every byte follows from (step, name).
class Tensors {
 public:
  Tensors() = default;
  explicit Tensors(int64_t scale) : scale_(scale) {}

  std::vector<TensorView> parameters() {
    return {view("wte", {100 * scale_, 16}), view("empty", {0, 4}), view("ln.weight", {17})};
  }
  std::vector<TensorView> optimizer() {
    return {view("wte.m", {100 * scale_, 16}), view("wte.v", {100 * scale_, 16}), view("beta1_power", {})};
  }
  void fill(int64_t step) {
    for (auto& [name, bytes] : memory_)
      for (size_t i = 0; i < bytes.size(); ++i)
        bytes[i] = static_cast<std::byte>(static_cast<size_t>(step) * 37 + i * 11 + i / 251 + name.size());
  }
  bool operator==(const Tensors& other) const { return memory_ == other.memory_; }

 private:
  TensorView view(const std::string& name, const Shape& shape) {
    const TensorDesc desc{.dtype = DType::kF32, .shape = shape};
    auto& bytes = memory_[name];
    bytes.resize(static_cast<size_t>(desc.size_bytes()));
    return {name, desc, bytes.data()};
  }

  int64_t scale_ = 1;
  std::map<std::string, std::vector<std::byte>> memory_;
};

Tensors tensors_of(int64_t step, int64_t scale = 1) {
  Tensors tensors(scale);
  tensors.parameters(), tensors.optimizer();
  tensors.fill(step);
  return tensors;
}

TrainingState state_of(int64_t step) {
  return {.step = step,
          .sample = step * 8,
          .total_samples = 1000,
          .tokens = step * 512,
          .model = "gpt2-tiny",
          .model_hash = kModelHash,
          .optimizer = "adamw",
          .compile_hash = "c0ffee",
          .data_checksums = {{"training tokens", 4026531840}},
          .settings = {{"logits_chunks", "4"}}};
}

Status save(const std::string& run, int64_t step, const SaveOptions& options = {}, int64_t scale = 1) {
  Tensors tensors = tensors_of(step, scale);
  return save_checkpoint(run, tensors.parameters(), tensors.optimizer(), state_of(step), options);
}

Result<TrainingState> load(const std::string& folder, Tensors& tensors) {
  return load_checkpoint(folder, "gpt2-tiny", kModelHash, tensors.parameters(), tensors.optimizer());
}

void expect_holds(const std::string& folder, int64_t step, int64_t scale = 1) {
  Tensors tensors(scale);
  const auto state = load(folder, tensors);
  ASSERT_TRUE(state.ok()) << state.error().message;
  EXPECT_EQ(*state, state_of(step));
  EXPECT_EQ(tensors, tensors_of(step, scale));
}

std::string contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void write(const std::string& path, const std::string& text) { std::ofstream(path, std::ios::binary) << text; }

void flip_byte(const std::string& path, size_t from_end) {
  std::string bytes = contents(path);
  bytes[bytes.size() - from_end] = static_cast<char>(bytes[bytes.size() - from_end] ^ 0x10);
  write(path, bytes);
}

class Checkpoint : public testing::Test {
 protected:
  void SetUp() override { fs::remove_all(run_); }
  void TearDown() override { fs::remove_all(run_); }

  std::string folder(const std::string& name) const { return run_ + "/checkpoints/" + name; }
  std::vector<std::string> folders() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(run_ + "/checkpoints")) names.push_back(entry.path().filename());
    std::ranges::sort(names);
    return names;
  }
  std::string load_message(const std::string& name) const {
    Tensors tensors;
    const auto state = load(folder(name), tensors);
    return state.ok() ? "" : state.error().message;
  }

  const std::string run_ = absolute_folder(testing::TempDir()) + "/plimsoll_checkpoint_" + std::to_string(::getpid());
};

TEST_F(Checkpoint, BringsBackEveryByteAndCounter) {
  ASSERT_TRUE(save(run_, 7).ok());
  EXPECT_EQ(find_latest_checkpoint(run_).value().folder, folder("step-7"));
  expect_holds(folder("step-7"), 7);
  expect_holds(folder("step-7") + "/", 7);
  EXPECT_EQ(read_training_state(folder("step-7")).value(), state_of(7));
}

TEST_F(Checkpoint, GivesTheSameBytesForTheSameState) {
  ASSERT_TRUE(save(run_ + "/a", 7).ok());
  ASSERT_TRUE(save(run_ + "/b", 7).ok());
  for (const char* file : {kModelFile, kOptimizerFile, kStateFile})
    EXPECT_EQ(contents(run_ + "/a/checkpoints/step-7/" + file), contents(run_ + "/b/checkpoints/step-7/" + file));
}

TEST_F(Checkpoint, LoadsParametersAloneWithoutLookingIntoTheOptimizersFile) {
  ASSERT_TRUE(save(run_, 3).ok());
  flip_byte(folder("step-3/optimizer.safetensors"), 1);
  Tensors tensors;
  EXPECT_TRUE(load_parameters(folder("step-3"), "gpt2-tiny", kModelHash, tensors.parameters()).ok());
  EXPECT_NE(load_message("step-3"), "");
}

TEST_F(Checkpoint, KeepsTheNewest) {
  for (int64_t step : {8, 9, 10, 11}) ASSERT_TRUE(save(run_, step, {.keep = 2}).ok());
  EXPECT_THAT(folders(), ElementsAre("step-10", "step-11"));
  ASSERT_TRUE(save(run_, 12, {.keep = 1}).ok());
  EXPECT_THAT(folders(), ElementsAre("step-12"));
  ASSERT_TRUE(save(run_, 4, {.keep = 1}).ok());
  EXPECT_THAT(folders(), ElementsAre("step-12", "step-4"));
  EXPECT_EQ(find_latest_checkpoint(run_).value().folder, folder("step-12"));
}

TEST_F(Checkpoint, IgnoresDamagedOnesWhenItCountsAndPicks) {
  for (int64_t step : {1, 2, 3}) ASSERT_TRUE(save(run_, step, {.keep = 3}).ok());
  fs::resize_file(folder("step-3/model.safetensors"), 100);
  EXPECT_EQ(find_latest_checkpoint(run_).value().folder, folder("step-2"));
  ASSERT_TRUE(save(run_, 4, {.keep = 2}).ok());
  EXPECT_THAT(folders(), ElementsAre("step-2", "step-3", "step-4"));
}

/// Replaces text in a checkpoint's state and sums it anew.
void rewrite_state(const std::string& path, const std::string& from, const std::string& to) {
  std::stringstream content;
  content << std::ifstream(path).rdbuf();
  std::string text = content.str();
  text.resize(text.rfind(",\n  \"checksum\": "));
  ASSERT_NE(text.find(from), std::string::npos) << text;
  text.replace(text.find(from), from.size(), to);
  std::ofstream(path) << text << ",\n  \"checksum\": " << formats::crc32c(std::as_bytes(std::span(text))) << "\n}\n";
}

TEST_F(Checkpoint, OfAnotherVersionIsNeitherPassedOverNorCalledDamaged) {
  for (int64_t step : {1, 2}) ASSERT_TRUE(save(run_, step).ok());
  rewrite_state(folder("step-2/state.json"), "\"version\": 2", "\"version\": 9");
  const auto latest = find_latest_checkpoint(run_);
  ASSERT_FALSE(latest.ok());
  EXPECT_EQ(latest.error().code, ErrorCode::kUnsupported);
  EXPECT_THAT(latest.error().message,
              AllOf(HasSubstr("step-2/state.json"), HasSubstr("it has version 9"), Not(HasSubstr("remove"))));
}

TEST_F(Checkpoint, OfBeforeDataWereSummedLoads) {
  ASSERT_TRUE(save(run_, 1).ok());
  rewrite_state(folder("step-1/state.json"), "\"data_crc32c\"", "\"data_of_old\"");
  EXPECT_EQ(load_message("step-1"), "");
  EXPECT_TRUE(read_training_state(folder("step-1")).value().data_checksums.empty());
}

TEST_F(Checkpoint, ReplacesOneOfTheSameStepWithoutAMomentWithoutOne) {
  ASSERT_TRUE(save(run_, 5).ok());
  ASSERT_TRUE(save(run_, 5).ok());
  EXPECT_THAT(folders(), ElementsAre("step-5"));
  fs::rename(folder("step-5"), folder("step-5.old"));  // as a kill between two renames leaves it
  EXPECT_EQ(find_latest_checkpoint(run_).value().folder, folder("step-5.old"));
  expect_holds(folder("step-5.old"), 5);
  ASSERT_TRUE(save(run_, 5).ok());
  EXPECT_THAT(folders(), ElementsAre("step-5"));
  fs::remove(folder("step-5/state.json"));
  ASSERT_TRUE(save(run_, 5).ok());
  EXPECT_THAT(folders(), ElementsAre("step-5"));
  expect_holds(folder("step-5"), 5);
}

TEST_F(Checkpoint, NeverPicksLeftoversAndRemovesThemAtTheNextSave) {
  ASSERT_TRUE(save(run_, 1).ok());
  for (const char* name : {"step-2.partial", "step-3.old.partial"})
    fs::copy(folder("step-1"), folder(name), fs::copy_options::recursive);
  for (const char* name : {"step-07", "step-", "step-9x", "step--4", "notes", "step-99999999999999999999"})
    fs::copy(folder("step-1"), folder(name), fs::copy_options::recursive);
  std::ofstream(folder("step-8")) << "a file";
  EXPECT_EQ(find_latest_checkpoint(run_).value().folder, folder("step-1"));
  fs::remove(folder("step-8"));
  ASSERT_TRUE(save(run_, 2).ok());
  EXPECT_THAT(folders(), ElementsAre("notes", "step-", "step--4", "step-07", "step-1", "step-2",
                                     "step-99999999999999999999", "step-9x"));
}

TEST_F(Checkpoint, SaysWhyThereIsNone) {
  EXPECT_EQ(find_latest_checkpoint(run_).error().message,
            "[checkpoint] there is no checkpoint in " + run_ + "/checkpoints");
  EXPECT_EQ(load_message("step-1"), "[checkpoint] there is no checkpoint " + folder("step-1"));
  ASSERT_TRUE(save(run_, 1).ok());
  const auto size = fs::file_size(folder("step-1/model.safetensors"));
  fs::resize_file(folder("step-1/model.safetensors"), 100);
  EXPECT_THAT(find_latest_checkpoint(run_).error().message,
              AllOf(HasSubstr("no whole checkpoint"), HasSubstr("has 100 bytes instead of " + std::to_string(size))));
}

TEST_F(Checkpoint, NamesTheDamagedFileAndTheCheckpointToUseInstead) {
  const std::string advice = "; use the checkpoint before it: " + folder("step-1");
  const auto damage = [&](const std::string& file, const std::function<void(const std::string&)>& how) {
    EXPECT_TRUE(save(run_, 1).ok());
    EXPECT_TRUE(save(run_, 2).ok());
    how(folder("step-2/" + file));
    Tensors tensors;
    const auto state = load(folder("step-2"), tensors);
    EXPECT_FALSE(state.ok()) << file;
    if (state.ok()) return std::string();
    EXPECT_EQ(state.error().code, ErrorCode::kCorrupt);
    EXPECT_THAT(state.error().message, AllOf(StartsWith("[checkpoint] " + folder("step-2/" + file)), EndsWith(advice)));
    return state.error().message;
  };
  const auto flip_last = [](const std::string& path) { flip_byte(path, 1); };
  const auto cut = [](const std::string& path) { fs::resize_file(path, fs::file_size(path) - 1); };
  const auto lose = [](const std::string& path) { fs::remove(path); };
  EXPECT_THAT(damage("model.safetensors", flip_last),
              HasSubstr("is damaged: tensor 'ln.weight' does not match its checksum"));
  EXPECT_THAT(damage("optimizer.safetensors", flip_last),
              HasSubstr("is damaged: tensor 'beta1_power' does not match its checksum"));
  EXPECT_THAT(damage("model.safetensors", [](const std::string& path) { flip_byte(path, fs::file_size(path)); }),
              HasSubstr("header"));
  // A letter of a name: it would be the state of another optimizer, were the header not summed.
  EXPECT_THAT(
      damage("optimizer.safetensors", [](const std::string& path) { flip_byte(path, fs::file_size(path) - 10); }),
      HasSubstr("optimizer.safetensors is damaged: the header does not match its checksum"));
  for (const char* file : {"model.safetensors", "optimizer.safetensors"}) {
    EXPECT_THAT(damage(file, cut), HasSubstr("bytes instead of"));
    EXPECT_THAT(damage(file, lose), HasSubstr("missing"));
  }
  EXPECT_THAT(damage("state.json", cut), HasSubstr("cut off or damaged"));
  EXPECT_THAT(damage("state.json", lose), HasSubstr("missing"));
  EXPECT_THAT(damage("state.json", [](const std::string& path) { write(path, ""); }), HasSubstr("cut off"));
  fs::remove_all(folder("step-1"));
  EXPECT_THAT(load_message("step-2"), HasSubstr("there is no whole checkpoint before it"));
}

TEST_F(Checkpoint, NoticesEveryChangedByteOfTheState) {
  const std::string text =
      try_write_record({.state = state_of(7), .model = {10, 2, {{"w", 1}}}, .optimizer = {}}).value();
  EXPECT_EQ(try_parse_record(text).value().state, state_of(7));
  for (size_t i = 0; i < text.size(); ++i)
    for (char change : {'\x01', '\x10', '\x40'}) {
      std::string damaged = text;
      damaged[i] = static_cast<char>(damaged[i] ^ change);
      EXPECT_FALSE(try_parse_record(damaged).ok()) << i;
      EXPECT_FALSE(try_parse_record(std::string_view(text).substr(0, i)).ok()) << i;
    }
}

TEST_F(Checkpoint, NamesTheFirstTensorThatDiffersWithBothShapes) {
  ASSERT_TRUE(save(run_, 1).ok());
  Tensors tensors;
  const auto message = [&](auto change_parameters, auto change_optimizer, const char* model = "gpt2-mini") {
    auto parameters = tensors.parameters();
    auto optimizer = tensors.optimizer();
    change_parameters(parameters);
    change_optimizer(optimizer);
    const auto state = load_checkpoint(folder("step-1"), model, kModelHash, parameters, optimizer);
    EXPECT_FALSE(state.ok());
    EXPECT_EQ(state.error().code, ErrorCode::kInvalidArgument);
    return state.error().message;
  };
  const auto same = [](auto&) {};
  const std::string of = "[checkpoint] " + folder("step-1") + " is of model 'gpt2-tiny', this is 'gpt2-mini'";
  EXPECT_EQ(message([](auto& views) { views[2].desc.shape = {18}; }, same),
            of + ": tensor 'ln.weight' is f32[17] there, f32[18] here");
  EXPECT_EQ(message([](auto& views) { views[2].desc.dtype = DType::kI32; }, same),
            of + ": tensor 'ln.weight' is f32[17] there, i32[17] here");
  EXPECT_EQ(message([](auto& views) { views[0].name = "wpe"; }, same), of + ": tensor 'wpe' f32[100,16] is not in it");
  EXPECT_EQ(message([](auto& views) { views.pop_back(); }, same), of + ": tensor 'ln.weight' f32[17] is only there");
  EXPECT_THAT(message(same, same), HasSubstr(of + ", though all shapes agree"));
  EXPECT_THAT(message(
                  same, [](auto& views) { views.erase(views.begin() + 1); }, "gpt2-tiny"),
              HasSubstr("optimizer 'adamw', not of this run's: tensor 'wte.v' f32[100,16] is only there"));
  EXPECT_FALSE(load_checkpoint(folder("step-1"), "gpt2-tiny", 1, tensors.parameters(), tensors.optimizer()).ok());
}

TEST_F(Checkpoint, RefusesWhatItCannotSave) {
  EXPECT_THAT(save(run_, -1).error().message, HasSubstr("step -1 is negative"));
  EXPECT_THAT(save(run_, 1, {.keep = 0}).error().message, HasSubstr("keep 0 must be at least 1"));
  Tensors tensors = tensors_of(1);
  auto twice = tensors.parameters();
  twice[1].name = "wte";
  EXPECT_THAT(save_checkpoint(run_, twice, {}, state_of(1)).error().message, HasSubstr("'wte'"));
  write(run_, "a file");
  EXPECT_THAT(save(run_, 1).error().message, HasSubstr("cannot create " + run_));
}

// Case G45: asked before anything is read or written; the tensor here has no memory at all.
TEST_F(Checkpoint, AsksForSpaceBeforeItWrites) {
  ASSERT_TRUE(save(run_, 1).ok());
  const TensorView huge{"w", {.dtype = DType::kF32, .shape = {int64_t{1} << 50}}, nullptr};
  const Status status = save_checkpoint(run_, std::span(&huge, 1), {}, state_of(2));
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code, ErrorCode::kIo);
  EXPECT_THAT(status.error().message, AllOf(StartsWith("[checkpoint] step-2 is not saved: not enough space in " + run_ +
                                                       "/checkpoints: 45035996"),
                                            HasSubstr(" bytes are needed, "), HasSubstr(" are free"),
                                            EndsWith("the last whole checkpoint is " + folder("step-1"))));
  expect_holds(folder("step-1"), 1);
}

// Case G45: the disk fills up at every place in turn, or a limit on file sizes is met.
TEST_F(Checkpoint, KeepsTheLastOneWhenTheDiskIsFull) {
  ASSERT_TRUE(save(run_, 1).ok());
  for (int failing = 0;; ++failing) {
    ASSERT_LT(failing, 100);
    int calls = 0;
    const formats::WriteCall full = [&](int descriptor, const std::byte* bytes, size_t count,
                                        int64_t offset) -> ssize_t {
      if (calls++ < failing) return ::pwrite(descriptor, bytes, std::min<size_t>(count, 2000), offset);
      errno = ENOSPC;
      return -1;
    };
    const Status status = save(run_, 2, {.keep = 1, .write = full});
    if (status.ok()) break;
    EXPECT_THAT(status.error().message, AllOf(HasSubstr("step-2.partial/"), HasSubstr("the file needs "),
                                              HasSubstr("are free"), EndsWith(folder("step-1"))));
    EXPECT_THAT(folders(), ElementsAre("step-1"));
  }
  EXPECT_THAT(folders(), ElementsAre("step-2"));
  expect_holds(folder("step-2"), 2);
}

TEST_F(Checkpoint, ReportsALimitOnFileSizes) {
  ASSERT_TRUE(save(run_, 1).ok());
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit low{.rlim_cur = 5'000, .rlim_max = before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &low), 0);
  const Status status = save(run_, 2, {.keep = 1});
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  ASSERT_FALSE(status.ok());
  EXPECT_THAT(status.error().message, AllOf(HasSubstr("step-2.partial/model.safetensors"),
                                            HasSubstr("(ulimit -f) is 5000"), EndsWith(folder("step-1"))));
  EXPECT_THAT(folders(), ElementsAre("step-1"));
  expect_holds(folder("step-1"), 1);
}

TEST_F(Checkpoint, TakesNoShortWriteForSuccess) {
  const formats::WriteCall half = [](int descriptor, const std::byte* bytes, size_t count, int64_t offset) {
    return ::pwrite(descriptor, bytes, (count + 1) / 2, offset);
  };
  ASSERT_TRUE(save(run_, 1, {.write = half}).ok());
  expect_holds(folder("step-1"), 1);
}

// Case G45 on a real full disk: a tmpfs of 1.5 times a checkpoint's size, with keep 2. In a child, whose mounts end
// with it; its exit status says how far it came.
TEST_F(Checkpoint, KeepsTheLastOneOnASmallDisk) {
  constexpr int kNoMount = 77;
  fs::create_directories(run_);
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const bool is_apart = ::unshare(CLONE_NEWNS) == 0 || ::unshare(CLONE_NEWUSER | CLONE_NEWNS) == 0;
    if (!is_apart || ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        ::mount("tmpfs", run_.c_str(), "tmpfs", 0, "size=3m") != 0)
      ::_exit(kNoMount);
    constexpr int64_t kScale = 100;  // 1.9 MB
    if (!save(run_, 1, {.keep = 2}, kScale).ok()) ::_exit(1);
    const Status status = save(run_, 2, {.keep = 2}, kScale);
    if (status.ok()) ::_exit(2);
    if (!testing::Matches(AllOf(HasSubstr(" bytes are needed, "), HasSubstr(" are free"), EndsWith("step-1")))(
            status.error().message))
      ::_exit(3);
    Tensors tensors(kScale);
    if (!load(folder("step-1"), tensors).ok() || !(tensors == tensors_of(1, kScale))) ::_exit(4);
    ::_exit(0);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  if (WEXITSTATUS(status) == kNoMount) GTEST_SKIP() << "a tmpfs may not be mounted here";
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

// Writes 5 MB/s in pieces, as a slow disk does.
ssize_t write_slowly(int descriptor, const std::byte* bytes, size_t count, int64_t offset) {
  const size_t piece = std::min<size_t>(count, 8'192);
  std::this_thread::sleep_for(std::chrono::nanoseconds(piece * 200));
  return ::pwrite(descriptor, bytes, piece, offset);
}

// Case G44: kill -9 at 20 random moments of saves. A child saves step after step from `next` on and writes each step
// that it has finished to a pipe.
class KilledSave : public Checkpoint {
 protected:
  static constexpr int64_t kScale = 15;  // 290 KB: 58 ms a save

  int64_t save_until_killed(int64_t next, std::chrono::microseconds moment) const {
    int ends[2];
    EXPECT_EQ(::pipe(ends), 0);
    const pid_t child = ::fork();
    EXPECT_GE(child, 0);
    if (child == 0) {
      for (int64_t step = next;; ++step) {
        if (!save(run_, step, {.keep = 2, .write = write_slowly}, kScale).ok()) ::_exit(1);
        if (::write(ends[1], &step, sizeof step) != sizeof step) ::_exit(2);
      }
    }
    ::close(ends[1]);
    std::this_thread::sleep_for(moment);
    ::kill(child, SIGKILL);
    int status = 0;
    EXPECT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFSIGNALED(status)) << "a save failed";
    int64_t finished = next - 1;
    while (::read(ends[0], &finished, sizeof finished) == sizeof finished) {
    }
    ::close(ends[0]);
    return finished;
  }
};

TEST_F(KilledSave, LeavesTheNewestWholeCheckpointLoadable) {
  ASSERT_TRUE(save(run_, 1, {}, kScale).ok());
  int64_t newest = 1;
  bool was_cut = false;
  for (uint64_t kill = 0; kill < 20; ++kill) {
    const auto moment = std::chrono::microseconds(Philox(44)(kill, 0)[0] % 150'000);
    const int64_t finished = save_until_killed(newest + 1, moment);
    const auto latest = find_latest_checkpoint(run_);
    ASSERT_TRUE(latest.ok()) << latest.error().message;
    EXPECT_THAT(latest->folder, Not(EndsWith(".partial")));
    newest = read_training_state(latest->folder).value().step;
    EXPECT_TRUE(newest == finished || newest == finished + 1) << newest << " after " << finished;
    expect_holds(latest->folder, newest, kScale);
    for (const std::string& name : folders()) was_cut = was_cut || name.ends_with(".partial");
  }
  EXPECT_TRUE(was_cut) << "no kill hit a save";
  ASSERT_TRUE(save(run_, newest + 1, {.keep = 1}, kScale).ok());
  EXPECT_THAT(folders(), ElementsAre("step-" + std::to_string(newest + 1)));
}

}  // namespace
}  // namespace plimsoll::engine
