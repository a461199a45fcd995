#!/bin/bash
# events: real programs under tally events, with all their libraries: running
# counters and edge profiles tell the same of every event.
#
#	tests/sweep/events.sh native|foreign [NAME...]
#
# Native are programs of this system, foreign those of packages for the other
# machine, run in qemu. Both, if nothing is said.

. "$(dirname "$0")/../lib/sweep.sh"

sweep_both events_sweep.py -- "$@"
