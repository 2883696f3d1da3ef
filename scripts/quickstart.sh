#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# usage: quickstart.sh [key=value…]
#
# Installs what is missing, builds the release preset, makes the corpus and trains a small GPT on it. Arguments override
# the run file's options, as `plimsoll train --set` does.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

overrides=()
folder=runs/quickstart
for assignment in "$@"; do
  overrides+=(--set "$assignment")
  case "$assignment" in run.folder=* | folder=*) folder=${assignment#*=} ;; esac
done
if [ -e "$folder" ]; then
  echo "quickstart.sh: '$folder' exists; remove it, or give another, as in run.folder=runs/second" >&2
  exit 2
fi

scripts/install_dependencies.sh
cmake --preset release -DPLIMSOLL_TESTS=OFF
cmake --build --preset release
corpus=build/quickstart
if [ ! -f "$corpus/corpus.json" ]; then
  scripts/make_corpus.py "$corpus"
fi
build/release/bin/plimsoll train examples/quickstart/run.toml "${overrides[@]}"
