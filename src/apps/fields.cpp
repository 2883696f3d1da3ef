#include "apps/fields.h"

#include <cstdio>
#include <nlohmann/json.hpp>

namespace plimsoll::apps {
namespace {

using nlohmann::ordered_json;

ordered_json to_json(const Fields& fields) {
  ordered_json object = ordered_json::object();
  for (const Field& field : fields)
    object[field.name] = std::visit(
        [](const auto& value) -> ordered_json {
          if constexpr (std::is_same_v<std::decay_t<decltype(value)>, std::shared_ptr<const Fields>>)
            return to_json(*value);
          else
            return value;
        },
        field.value.get());
  return object;
}

}  // namespace

FieldValue::FieldValue(const Fields& fields) : value_(std::make_shared<const Fields>(fields)) {}

std::string to_line(const Fields& fields) {
  return to_json(fields).dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

void print_json(const Fields& fields) {
  std::printf("%s\n", to_line(fields).c_str());
  std::fflush(stdout);
}

}  // namespace plimsoll::apps
