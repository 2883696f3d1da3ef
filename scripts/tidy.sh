#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# usage: tidy.sh [FILE…]
#
# Runs clang-tidy on the files, or on every source, with the commands of the dev preset. A file takes 4 to 12 s of a core,
# so .ci/run leaves it out. Highway's kernels are left out: the same lines are parsed once for every instruction set, and
# one file takes minutes. So is what includes omp.h, of which clang would need one of its own.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

[ -f build/dev/compile_commands.json ] || cmake --preset dev >/dev/null
files=("$@")
if [ $# = 0 ]; then
  mapfile -t files < <(find src apps examples bench tests -name '*.cpp' -not -path 'tests/layer_scan/*' \
    -not -path 'tests/install_consumer/*' 2>/dev/null | xargs grep -L -e 'hwy/foreach_target.h' -e '<omp.h>' | sort)
fi
printf '%s\0' "${files[@]}" | xargs -0 -n 1 -P "$(nproc)" clang-tidy-16 -p build/dev --quiet 2>/dev/null
echo "clang-tidy: ${#files[@]} files pass"
