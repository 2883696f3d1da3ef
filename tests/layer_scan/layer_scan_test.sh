#!/bin/bash
# usage: layer_scan_test.sh PATH_OF_check_layers.py. The scan finds every fault of tree/, and no other.
set -u
scan=$1
cd "$(dirname "${BASH_SOURCE[0]}")" || exit 1

found=$(python3 "$scan" tree 2>/dev/null) && { echo "FAILED: the scan accepts tree/"; exit 1; }
diff expected.txt <(printf '%s\n' "$found") || { echo "FAILED: other faults than expected.txt names"; exit 1; }
