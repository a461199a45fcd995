#!/bin/bash
# count: real programs, run by tally count with all their libraries, answer as
# the originals do, and counters on edges tell the same of every instruction as
# counters in every block.
#
#	tests/sweep/count.sh [NAME...]
#
# The programs are those of foreign Debian packages, run in qemu.

. "$(dirname "$0")/../lib/sweep.sh"
sweep_emulated
sweep_root
nice -n 10 python3 "$here/../lib/count_sweep.py" "$tally" \
	"$root" "$work" "$@"
