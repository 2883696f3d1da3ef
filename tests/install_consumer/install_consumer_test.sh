#!/bin/bash
# usage: install_consumer_test.sh BUILD_FOLDER PATH_OF_cmake
#
# Installs the build into a folder of its own and moves that. Then the installed program runs, and a program outside the
# source tree is built against the installed headers and libraries and runs.
set -eu
build=$1
cmake=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

"$cmake" --install "$build" --prefix "$folder/first" >"$folder/install.log" || { cat "$folder/install.log"; exit 1; }
mv "$folder/first" "$folder/prefix"
cp "$(dirname "${BASH_SOURCE[0]}")"/{CMakeLists.txt,consumer.cpp} "$folder"

source_root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
if grep -rlF "$source_root" "$folder/prefix" --include='*.cmake' --include='*.h'; then
  echo "FAILED: these installed files name the source tree" && exit 1
fi

others=$(find "$folder/prefix/include" -type f ! -name '*.h')
if [ -n "$others" ]; then
  echo "FAILED: these files stand among the headers" && echo "$others" && exit 1
fi

(cd / && "$folder/prefix/bin/plimsoll" plan mlp-mnist --batch 8 >"$folder/plan.log") || { cat "$folder/plan.log"; exit 1; }
grep -q "plan of 'mlp-mnist'" "$folder/plan.log"

"$cmake" -S "$folder" -B "$folder/build" -G Ninja -DCMAKE_PREFIX_PATH="$folder/prefix" >"$folder/configure.log" ||
  { cat "$folder/configure.log"; exit 1; }
"$cmake" --build "$folder/build"
"$folder/build/consumer"
