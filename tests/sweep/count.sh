#!/bin/bash
# count: real programs, run by tally count with all their libraries, answer as
# the originals do, and counters on edges tell the same of every instruction as
# counters in every block.
#
#	tests/sweep/count.sh native|foreign [NAME...]
#
# Native are the programs of this system; a debugger's steps say what they ran,
# and which share of it is measured. Foreign are those of packages for the other
# machine, run in qemu. Both, if nothing is said.

. "$(dirname "$0")/../lib/sweep.sh"

sweep_both count_sweep.py --steps "$(dirname "$tally")/tools/step-counts" \
	-- "$@"
