#include "data/byte_ngram.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "core/check.h"
#include "data/sampled_text.h"

namespace plimsoll::data {
namespace {

// A second of counting takes in about 5 MB, so that a corpus of any size adds seconds to a run.
constexpr int64_t kMostTrainingBytes = int64_t{32} << 20;
constexpr int64_t kMostValidationBytes = int64_t{8} << 20;

// The last kOrder bytes.
std::string_view context_of(std::string_view text) {
  return text.substr(text.size() - std::min<size_t>(text.size(), ByteNgram::kOrder));
}

uint64_t scramble(uint64_t key) {
  key *= 0x9E3779B97F4A7C15ULL;  // 2^64 / golden ratio: spreads keys that differ in few bits
  return key ^ key >> 32;
}

// The bytes below their number, which is never 0, so strings of different lengths differ.
uint64_t to_key(std::string_view bytes) {
  uint64_t key = bytes.size() + 1;
  for (char c : bytes) key = key << 8 | static_cast<unsigned char>(c);
  return key;
}

// to_key of `context` and `next`.
uint64_t to_key(std::string_view context, unsigned char next) {
  uint64_t key = context.size() + 2;
  for (char c : context) key = key << 8 | static_cast<unsigned char>(c);
  return key << 8 | next;
}

// Calls visit(context, next) for each byte of `text`, where `tail` holds the bytes before it and is kept up to date.
template <class Visit>
void visit_bytes(std::string_view text, std::string& tail, Visit visit) {
  for (char c : text) {
    visit(std::string_view(tail), static_cast<unsigned char>(c));
    if (tail.size() == ByteNgram::kOrder) tail.erase(0, 1);
    tail += c;
  }
}

}  // namespace

ByteNgram::ByteNgram(int64_t table_bytes) {
  PLIMSOLL_CHECK(table_bytes >= 1024, table_bytes);
  slots_.resize(std::bit_floor(static_cast<uint64_t>(table_bytes) / sizeof(Slot)));
}

void ByteNgram::train(std::string_view text) {
  visit_bytes(text, tail_, [this](std::string_view context, unsigned char next) {
    for (;; context.remove_prefix(1)) {
      count(context, next);
      if (context.empty()) return;
    }
  });
}

void ByteNgram::count(std::string_view context, unsigned char next) {
  Slot* const gram = try_insert(to_key(context, next), context.size() + 1);
  Slot* const as_context = try_insert(to_key(context), context.size());
  if (gram == nullptr || as_context == nullptr) return;
  as_context->distinct += gram->count == 0 ? 1 : 0;
  ++as_context->total;
  ++gram->count;
}

double ByteNgram::probability(std::string_view context, unsigned char next) const {
  context = context_of(context);
  double result = 1.0 / 256;
  for (size_t length = 0; length <= context.size(); ++length) {
    const std::string_view shorter = context.substr(context.size() - length);
    const Slot& as_context = slots_[find(to_key(shorter))];
    if (as_context.total == 0) break;  // not counted, nor was any that is longer but by the table's last places
    const auto seen = static_cast<double>(slots_[find(to_key(shorter, next))].count);
    const auto total = static_cast<double>(as_context.total), distinct = static_cast<double>(as_context.distinct);
    result = (seen + distinct * result) / (total + distinct);
  }
  return result;
}

// The slot of `key`, or the free one where it would go.
size_t ByteNgram::find(uint64_t key) const {
  const size_t mask = slots_.size() - 1;
  size_t slot = scramble(key) & mask;
  while (slots_[slot].key != 0 && slots_[slot].key != key) slot = (slot + 1) & mask;
  return slot;
}

// The slot of `key`; nullptr where it is not there and the table is full. An eighth of the places is kept for strings
// of up to two bytes, of which there are 65,793: they predict most, and may come up late, in another language.
ByteNgram::Slot* ByteNgram::try_insert(uint64_t key, size_t length) {
  Slot& slot = slots_[find(key)];
  if (slot.key == key) return &slot;
  const size_t most = slots_.size() * 2 / 3 - (length > 2 ? slots_.size() / 8 : 0);
  if (used_ >= most) return nullptr;
  ++used_;
  slot.key = key;
  return &slot;
}

Result<ByteNgram> try_train_byte_ngram(const TextPart& text, ByteProgress progress) {
  ByteNgram model;
  SampledText sample(text, kMostTrainingBytes);
  while (true) {
    PLIMSOLL_ASSIGN(const std::string_view chunk, sample.try_next());
    if (chunk.empty()) return model;
    model.train(chunk);
    if (!progress(sample.read_bytes(), size_bytes(text))) return cancelled("[byte model] stopped while it was trained");
  }
}

Result<double> try_bits_per_byte(const ByteNgram& model, const TextPart& text, ByteProgress progress) {
  SampledText sample(text, kMostValidationBytes);
  std::string tail;
  double bits = 0;
  int64_t bytes = 0;
  while (true) {
    PLIMSOLL_ASSIGN(const std::string_view chunk, sample.try_next());
    if (chunk.empty()) break;
    visit_bytes(chunk, tail, [&](std::string_view context, unsigned char next) {
      bits -= std::log2(model.probability(context, next));
    });
    bytes += static_cast<int64_t>(chunk.size());
    if (!progress(sample.read_bytes(), size_bytes(text)))
      return cancelled("[byte model] stopped while it was measured");
  }
  if (bytes == 0) return invalid_argument("there is no text to take bits per byte of");
  return bits / static_cast<double>(bytes);
}

}  // namespace plimsoll::data
