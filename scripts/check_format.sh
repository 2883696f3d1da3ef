#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# usage: check_format.sh [--fix]
#
# Fails where clang-format would change a source file, and names the places; --fix changes them.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

mode=(--dry-run -Werror)
case "${1:-}" in
  '') ;;
  --fix) mode=(-i) ;;
  *) echo "check_format.sh: unknown argument '$1'; expected none or --fix" >&2; exit 2 ;;
esac

folders=()
for folder in src include apps examples bench tests; do
  [ ! -d "$folder" ] || folders+=("$folder")
done
find "${folders[@]}" \( -name '*.h' -o -name '*.cpp' \) -print0 | sort -z | xargs -0 clang-format-16 "${mode[@]}"
