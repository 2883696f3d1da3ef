#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# usage: test.sh [--fast]
#
# Installs what is missing, builds the dev preset and runs the tests: the fast ones first, then, without --fast, the
# slow ones one at a time.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

slow=true
case "${1:-}" in
  '') ;;
  --fast) slow=false ;;
  *) echo "test.sh: unknown argument '$1'; expected none or --fast" >&2; exit 2 ;;
esac

scripts/install_dependencies.sh
cmake --preset dev
cmake --build --preset dev
ctest --preset dev --label-regex '^fast$' --parallel "$(nproc)" </dev/null
if $slow; then
  ctest --preset dev --label-exclude '^fast$' </dev/null
fi
