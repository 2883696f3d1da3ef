#include "ops/op_docs.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

namespace plimsoll::ops {
namespace {

TEST(OpDocs, RowsShowInputsAttributesAndGradient) {
  const std::string page = document_ops(make_op_table());
  EXPECT_NE(page.find("| `matmul` | a, b, [bias] → dst | `transpose_a=false`<br>`transpose_b=false` | yes | dst = "),
            std::string::npos);
  EXPECT_NE(page.find("| `concat` | srcs … → dst | `axis`"), std::string::npos);
  EXPECT_NE(page.find("| `argmax` | "), std::string::npos);
}

TEST(OpDocs, EveryOpSaysWhatItMeans) {
  for (const auto& [name, def] : make_op_table()) EXPECT_FALSE(def.doc.empty()) << name;
}

TEST(OpDocs, PageIsUpToDate) {
  const std::string path = std::string(PLIMSOLL_DOCS) + "/ops.md";
  const std::string expected = document_ops(make_op_table());
  if (std::getenv("PLIMSOLL_WRITE_DOCS") != nullptr) std::ofstream(path) << expected;
  std::ostringstream page;
  page << std::ifstream(path).rdbuf();
  EXPECT_TRUE(page.str() == expected)
      << path << " differs from the op table; write it anew with PLIMSOLL_WRITE_DOCS=1 ctest --preset dev -R '^ops$'";
}

}  // namespace
}  // namespace plimsoll::ops
