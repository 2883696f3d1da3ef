#include "ops/op_docs.h"

namespace plimsoll::ops {
namespace {

constexpr const char* kIntro =
    "# Ops\n\n"
    "Generated from the op table; `PLIMSOLL_WRITE_DOCS=1 ctest --preset dev -R '^ops$'` writes it anew.\n\n"
    "Inputs in brackets may be left out; `…` marks one that may repeat. An attribute without `=` must be given. Ops "
    "without\na gradient may stand anywhere but between a parameter and the loss. Shape and dtype rules are in the one "
    "file of each op\nbelow `src/ops`.\n\n"
    "| op | inputs → outputs | attributes | gradient | meaning |\n|---|---|---|---|---|\n";

std::string joined(const std::vector<std::string>& parts, const std::string& separator) {
  std::string out;
  for (const std::string& part : parts) out += (out.empty() ? "" : separator) + part;
  return out;
}

/// Text that stays inside its cell.
std::string cell(const std::string& text) {
  std::string out;
  for (const char c : text) out += c == '|' ? std::string("\\|") : std::string(1, c);
  return out;
}

std::string signature(const OpDef& def) {
  std::vector<std::string> srcs;
  for (size_t i = 0; i < def.srcs.size(); ++i) {
    const bool is_optional = i >= def.srcs.size() - def.optional_srcs;
    const bool repeats = def.is_variadic && i + 1 == def.srcs.size();
    const std::string name = def.srcs[i] + (repeats ? " …" : "");
    srcs.push_back(is_optional ? "[" + name + "]" : name);
  }
  return (srcs.empty() ? "" : joined(srcs, ", ") + " ") + "→ " + joined(def.dsts, ", ");
}

std::string attribute(const AttributeDef& rule) {
  std::string text = "`" + rule.name + (rule.default_value ? "=" + to_string(*rule.default_value) : "") + "`";
  if (!rule.allowed.empty()) text += " (" + joined(rule.allowed, ", ") + ")";
  return text + (rule.doc.empty() ? "" : ": " + rule.doc);
}

std::string row(const OpDef& def) {
  std::vector<std::string> attributes;
  for (const AttributeDef& rule : def.attributes) attributes.push_back(attribute(rule));
  return "| `" + def.name + "` | " + cell(signature(def)) + " | " + cell(joined(attributes, "<br>")) + " | " +
         (def.gradient ? "yes" : "no") + " | " + cell(def.doc) + " |\n";
}

}  // namespace

std::string document_ops(const OpTable& table) {
  std::string page = kIntro;
  for (const auto& [name, def] : table) page += row(def);
  return page;
}

}  // namespace plimsoll::ops
