#!/bin/sh
# trace-counts: of programs of this system, a trace of each encoding has the
# same count of each edge as `tally count`. Of these, edges are compared that
# are the same in two runs: where buffers lie, and what is in the environment,
# decides how often some run.
#
#	tests/sweep/trace-counts.sh [NAME...]
#
# tests/lib/trace_counts.py does the work, and has the list of what is run.
cd "$(dirname "$0")/../.." || exit 1

if [ "$(uname -m)" != x86_64 ]; then
	echo "trace-counts: of x86-64 alone"
	exit 0
fi
exec nice -n 10 python3 tests/lib/trace_counts.py "$@"
