#!/bin/sh
# random: random programs, compiled for both machines by gcc and clang at every
# level, static and dynamic, print the same when rewritten, and when all that
# is dead is overwritten.
#
#	tests/sweep/random.sh csmith|calls [SEED...]
#
# csmith: Debian's csmith; calls: tests/lib/random_calls.py. Without seeds,
# RANDOM_PROGRAMS (200) programs from RANDOM_FIRST (1) on: the same seed is the
# same program, for one version of the generator. A failure names its seed, and
# KEEP=FOLDER keeps its files. MACHINES: for which (aarch64 x86_64); WAYS: how
# they are rewritten (moved,trap,poison). tests/lib/random_sweep.py does the
# work.
cd "$(dirname "$0")/../.." || exit 1

generator=${1:?csmith or calls}
shift
if [ $# -eq 0 ]; then
	first=${RANDOM_FIRST:-1}
	set -- $(seq "$first" $((first + ${RANDOM_PROGRAMS:-200} - 1)))
fi
failed=0
for machine in ${MACHINES:-aarch64 x86_64}; do
	nice -n 10 python3 tests/lib/random_sweep.py \
		${KEEP:+--keep "$KEEP"} ${WAYS:+--ways "$WAYS"} \
		$generator $machine "$@" || failed=1
done
exit $failed
