#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# usage: install_dependencies.sh [--list]
#
# Installs the Debian packages that building, testing and the quickstart need, those that are missing and no others, as
# root or through sudo. Where nothing is missing it asks nobody and needs no network. --list prints all of them, one a
# line. docs/dependencies.md says what each is for.
set -euo pipefail

packages=(
  # Build.
  g++ cmake ninja-build ccache mold pkg-config
  # Libraries that Plimsoll stands on.
  libdnnl-dev ocl-icd-opencl-dev libhwy-dev libsentencepiece-dev nlohmann-json3-dev libtomlplusplus-dev libcli11-dev libfmt-dev
  # Tests and checks.
  libgtest-dev libgmock-dev clang-format-16 clang-tidy-16 python3
  # The quickstart's corpus.
  groff
)

if [ "${1:-}" = --list ]; then
  printf '%s\n' "${packages[@]}"
  exit
fi
[ $# = 0 ] || { echo "install_dependencies: unknown argument '$1'; expected none or --list" >&2; exit 2; }
command -v apt-get >/dev/null || {
  echo "install_dependencies: no apt-get here; install by hand what --list names (docs/dependencies.md)" >&2
  exit 1
}

missing=()
for package in "${packages[@]}"; do
  status=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true)
  [ "$status" = installed ] || missing+=("$package")
done
[ ${#missing[@]} -gt 0 ] || exit 0

as_root=()
if [ "$(id -u)" != 0 ]; then
  command -v sudo >/dev/null || {
    echo "install_dependencies: not root and no sudo; run as root: apt-get install ${missing[*]}" >&2
    exit 1
  }
  as_root=(sudo)
fi
echo "installing ${missing[*]}"
# `env` rather than an export: sudo drops the caller's environment.
apt_get=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -o Acquire::Retries=3)
"${apt_get[@]}" update
"${apt_get[@]}" install --yes --no-install-recommends "${missing[@]}" </dev/null
