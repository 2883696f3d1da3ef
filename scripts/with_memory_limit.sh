#!/bin/bash
# usage: with_memory_limit.sh [--peak FILE] LIMIT_BYTES COMMAND [ARGUMENT…]
#
# Runs COMMAND in a memory control group of its own (v1 or v2) with that limit and no swap, then says on stderr, or
# writes to FILE, the highest charge that the group saw: "memory_peak_bytes=N limit_bytes=N oom_kills=N".
# Exits as COMMAND does (137 where the kernel killed it), or 125 with one line where no such group can be made.
# What the command leaves running is killed, and the group removed, in any case.
set -u

refuse() {
  echo "with_memory_limit: $1" >&2
  exit 125
}

peak_file=
if [ "${1:-}" = --peak ]; then
  [ $# -ge 2 ] || refuse "--peak needs a file"
  peak_file=$2
  shift 2
fi
[ $# -ge 2 ] || refuse "usage: with_memory_limit.sh [--peak FILE] LIMIT_BYTES COMMAND [ARGUMENT…]"
limit=$1
shift
[[ $limit =~ ^[0-9]+$ ]] || refuse "the limit is '$limit'; expected a number of bytes"

# The mount point of the hierarchy that holds the memory controller, from "… root point options - type source options".
mount_point() {
  awk -v type="$1" -v option="$2" '{
    for (i = 1; i <= NF && $i != "-"; i++);
    if ($(i + 1) == type && (option == "" || index("," $(i + 3) ",", "," option ","))) { print $5; exit }
  }' /proc/self/mountinfo
}

name=plimsoll-limit-$$
group_path=$(awk -F: '("," $2 ",") ~ /,memory,/ { print $3; exit }' /proc/self/cgroup)
v1_mount=$(mount_point cgroup memory)
if [ -n "$group_path" ] && [ -n "$v1_mount" ]; then
  version=1
  parent=$v1_mount$group_path
  [ -d "$parent" ] || parent=$v1_mount # a container sees its group as the mount itself
else
  version=2
  v2_mount=$(mount_point cgroup2 "")
  [ -n "$v2_mount" ] || refuse "no control groups are mounted"
  parent=$v2_mount$(awk -F: '$2 == "" { print $3; exit }' /proc/self/cgroup)
  [ -d "$parent" ] || parent=$v2_mount
  # A v2 group with processes can't hand controllers to groups below it, so the new group stands beside ours; the mount
  # itself may do both.
  grep -qw memory "$parent/cgroup.subtree_control" 2>/dev/null || { echo +memory >"$parent/cgroup.subtree_control"; } 2>/dev/null ||
    parent=$(dirname "$parent")
  grep -qw memory "$parent/cgroup.subtree_control" 2>/dev/null ||
    refuse "the memory controller of $v2_mount can't be used from here"
fi

group=${parent%/}/$name
mkdir "$group" 2>/dev/null || refuse "can't make $group (are you allowed to write there?)"

remove_group() {
  local tries pid
  for tries in 1 2 3 4 5 6 7 8 9 10; do
    while read -r pid; do kill -9 "$pid" 2>/dev/null; done <"$group/cgroup.procs"
    rmdir "$group" 2>/dev/null && return
    sleep 0.1
  done
  echo "with_memory_limit: could not remove $group" >&2
}
trap remove_group EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

put() { { echo "$2" >"$group/$1"; } 2>/dev/null; }
if [ $version = 1 ]; then
  put memory.limit_in_bytes "$limit" || refuse "the kernel refuses the limit $limit"
  # Where swap is counted, memory and swap together get the same limit, or the command would swap instead of failing.
  [ ! -e "$group/memory.memsw.limit_in_bytes" ] || put memory.memsw.limit_in_bytes "$limit"
  put memory.swappiness 0
else
  put memory.max "$limit" || refuse "the kernel refuses the limit $limit"
  [ ! -e "$group/memory.swap.max" ] || put memory.swap.max 0
fi

# The shell moves itself into the group and becomes the command, so that the command is charged from its first page on.
bash -c 'echo $$ >"$1/cgroup.procs" || exit 125; shift; exec "$@"' with_memory_limit "$group" "$@" <&0 &
child=$!
{ wait $child; } 2>/dev/null # the shell would report a killed child in its own words
status=$?

if [ $version = 1 ]; then
  peak=$(cat "$group/memory.max_usage_in_bytes")
  kills=$(awk '$1 == "oom_kill" { print $2 }' "$group/memory.oom_control")
else
  peak=$(cat "$group/memory.peak" 2>/dev/null || echo unknown) # since Linux 5.19
  kills=$(awk '$1 == "oom_kill" { print $2 }' "$group/memory.events")
fi
summary="memory_peak_bytes=$peak limit_bytes=$limit oom_kills=${kills:-0}"
if [ -n "$peak_file" ]; then echo "$summary" >"$peak_file"; else echo "$summary" >&2; fi
exit $status
