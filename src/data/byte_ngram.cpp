#include "data/byte_ngram.h"

#include <algorithm>
#include <cmath>

namespace plimsoll::data {
namespace {

constexpr size_t kFirstSlots = 1024;

// The last kOrder bytes.
std::string_view context_of(std::string_view text) {
  return text.substr(text.size() - std::min<size_t>(text.size(), ByteNgram::kOrder));
}

uint64_t scramble(uint64_t key) {
  key *= 0x9E3779B97F4A7C15ULL;  // 2^64 / golden ratio: spreads keys that differ in few bits
  return key ^ key >> 32;
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

ByteNgram::ByteNgram() : slots_(kFirstSlots) {}

void ByteNgram::train(std::string_view text) {
  visit_bytes(text, tail_, [this](std::string_view context, unsigned char next) { count_byte(context, next); });
}

void ByteNgram::count_byte(std::string_view context, unsigned char next) {
  for (;; context.remove_prefix(1)) {
    std::string gram(context);
    gram += static_cast<char>(next);
    const bool is_first = insert(to_key(gram)).count++ == 0;
    Slot& as_context = insert(to_key(context));
    ++as_context.total;
    as_context.distinct += is_first ? 1 : 0;
    if (context.empty()) return;
  }
}

double ByteNgram::probability(std::string_view context, unsigned char next) const {
  context = context_of(context);
  double result = 1.0 / 256;
  for (size_t length = 0; length <= context.size(); ++length) {
    const std::string_view shorter = context.substr(context.size() - length);
    const Slot& as_context = slots_[find(to_key(shorter))];
    if (as_context.total == 0) break;  // not seen, so none that is longer was
    std::string gram(shorter);
    gram += static_cast<char>(next);
    const double count = slots_[find(to_key(gram))].count;
    result = (count + as_context.distinct * result) / (static_cast<double>(as_context.total) + as_context.distinct);
  }
  return result;
}

uint64_t ByteNgram::to_key(std::string_view bytes) {
  uint64_t key = bytes.size() + 1;  // never 0, and strings of different lengths differ
  for (char c : bytes) key = key << 8 | static_cast<unsigned char>(c);
  return key;
}

// The slot of `key`, or the free one where it would go.
size_t ByteNgram::find(uint64_t key) const {
  const size_t mask = slots_.size() - 1;
  size_t slot = scramble(key) & mask;
  while (slots_[slot].key != 0 && slots_[slot].key != key) slot = (slot + 1) & mask;
  return slot;
}

ByteNgram::Slot& ByteNgram::insert(uint64_t key) {
  size_t slot = find(key);
  if (slots_[slot].key == key) return slots_[slot];
  if (++used_ * 3 > slots_.size() * 2) {
    std::vector<Slot> old(slots_.size() * 2);
    old.swap(slots_);
    for (const Slot& moved : old) {
      if (moved.key != 0) slots_[find(moved.key)] = moved;
    }
    slot = find(key);
  }
  slots_[slot].key = key;
  return slots_[slot];
}

Result<ByteNgram> try_train_byte_ngram(const TextPart& text) {
  ByteNgram model;
  TextReader reader(text);
  while (true) {
    PLIMSOLL_ASSIGN(const std::string_view chunk, reader.try_next());
    if (chunk.empty()) return model;
    model.train(chunk);
  }
}

Result<double> try_bits_per_byte(const ByteNgram& model, const TextPart& text) {
  TextReader reader(text);
  std::string tail;
  double bits = 0;
  int64_t bytes = 0;
  while (true) {
    PLIMSOLL_ASSIGN(const std::string_view chunk, reader.try_next());
    if (chunk.empty()) break;
    visit_bytes(chunk, tail, [&](std::string_view context, unsigned char next) {
      bits -= std::log2(model.probability(context, next));
    });
    bytes += static_cast<int64_t>(chunk.size());
  }
  if (bytes == 0) return invalid_argument("there is no text to take bits per byte of");
  return bits / static_cast<double>(bytes);
}

}  // namespace plimsoll::data
