#!/bin/bash
# usage: memory_limit_test.sh PATH_OF_with_memory_limit.sh. Exits 125 where no control group can be made: a skipped test.
set -u
limit=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
groups() { find /sys/fs/cgroup -maxdepth 6 -type d -name "plimsoll-limit-$1" 2>/dev/null; }

fail() {
  echo "FAILED: $1"
  exit 1
}

"$limit" --peak "$folder/peak" 64000000 true
[ $? != 125 ] || exit 125
grep -Eq '^memory_peak_bytes=[0-9]+ limit_bytes=64000000 oom_kills=0$' "$folder/peak" || fail "summary: $(cat "$folder/peak")"

"$limit" 64000000 sh -c 'exit 7' 2>/dev/null
[ $? = 7 ] || fail "the command's exit code is passed on"

# tail keeps the last line of its input, here all 200 MB of it.
"$limit" --peak "$folder/peak" 64000000 sh -c 'head -c 200000000 /dev/zero | exec tail -n 1 >/dev/null'
[ $? = 137 ] || fail "a command over the limit is killed"
grep -q 'oom_kills=1' "$folder/peak" || fail "the kill is reported: $(cat "$folder/peak")"

"$limit" 64000000 sh -c 'sleep 60 & exit 0' 2>/dev/null &
launcher=$!
wait $launcher
[ -z "$(groups $launcher)" ] || fail "the group is removed though a process was left in it"

"$limit" 12MB true 2>/dev/null
[ $? = 125 ] || fail "a limit that is no number is refused"
