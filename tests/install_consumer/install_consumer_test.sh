#!/bin/bash
# usage: install_consumer_test.sh BUILD_FOLDER PATH_OF_cmake
#
# Installs the build into a folder of its own, then builds and runs a program outside the source tree against it.
set -eu
build=$1
cmake=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

"$cmake" --install "$build" --prefix "$folder/prefix" >"$folder/install.log" || { cat "$folder/install.log"; exit 1; }
cp "$(dirname "${BASH_SOURCE[0]}")"/{CMakeLists.txt,consumer.cpp} "$folder"

source_root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
if grep -rlF "$source_root" "$folder/prefix" --include='*.cmake' --include='*.h'; then
  echo "FAILED: these installed files name the source tree" && exit 1
fi

"$cmake" -S "$folder" -B "$folder/build" -G Ninja -DCMAKE_PREFIX_PATH="$folder/prefix" >"$folder/configure.log" ||
  { cat "$folder/configure.log"; exit 1; }
"$cmake" --build "$folder/build"
"$folder/build/consumer"
