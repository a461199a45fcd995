#!/bin/sh
# csmith: random programs (Debian's csmith), compiled for both machines by gcc
# and clang at every level, static and dynamic, print the same when rewritten.
#
#	tests/sweep/csmith.sh [SEED...]
#
# Without seeds, CSMITH_PROGRAMS (200) programs from CSMITH_FIRST (1) on: the
# same seed is the same program, for one version of csmith. A failure names
# its seed, and KEEP=FOLDER keeps its files. MACHINES: for which (aarch64
# x86_64). tests/lib/csmith_sweep.py does the work.
cd "$(dirname "$0")/../.." || exit 1

if [ $# -eq 0 ]; then
	first=${CSMITH_FIRST:-1}
	set -- $(seq "$first" $((first + ${CSMITH_PROGRAMS:-200} - 1)))
fi
failed=0
for machine in ${MACHINES:-aarch64 x86_64}; do
	nice -n 10 python3 tests/lib/csmith_sweep.py \
		${KEEP:+--keep "$KEEP"} $machine "$@" || failed=1
done
exit $failed
