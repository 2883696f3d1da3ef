#!/bin/bash
# usage: session_in_budget_test.sh SESSION_IN_BUDGET WITH_MEMORY_LIMIT
#
# A session runs in a memory control group of exactly the size that it says it needs; 1 MiB less is refused. Exits 125,
# a skipped test, where no control group can be made.
set -u
program=$1
limit=$2
peak=$(mktemp)
trap 'rm -f "$peak"' EXIT

fail() {
  echo "FAILED: $1"
  exit 1
}

for layers in 2 12; do
  need=$("$program" $layers 2) || fail "the need of $layers layers is not said"
  "$limit" --peak "$peak" "$need" "$program" $layers 2 "$need"
  status=$?
  [ $status != 125 ] || exit 125
  cat "$peak"
  [ $status = 0 ] || fail "$layers layers do not run in the $need bytes that they need (exit $status)"
  "$program" $layers 2 $((need - 1048576))
  [ $? = 2 ] || fail "$layers layers with 1 MiB less than needed are not refused"
done
