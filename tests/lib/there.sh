#!/bin/sh
# there.sh: tests as they are on the other machine, on this one.
#
#	tests/lib/there.sh prove tests/e2e/count/exact.t
#
# tally for the other machine, emulated, is the one that is tested, and takes
# that machine for its own: programs of this one are the foreign ones, which it
# runs in an emulator. Programs of its own do not run so, and nothing that
# executes tally out of an emulated program, since the kernel does not know
# files of that machine.

. tests/lib/packages.sh
. tests/lib/rebuild.sh

REBUILD_GOAL=tools rebuild_other >&2
rebuild_as_host tally tools/insert-everywhere tools/judge-counts \
	tools/count-everywhere tools/list-moves >&2
BUILD=$there/as-host TALLY_TEST_HOST=$isa
export BUILD TALLY_TEST_HOST
"$@"
