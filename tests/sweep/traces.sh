#!/bin/sh
# traces: what tally replay tells of random programs, instruction by
# instruction, is what single steps of the original say; each encoding.
#
#	tests/sweep/traces.sh [SEED...]
#
# ISA says for which machine: that of this one, if it is not set.
# Without seeds, TRACE_PROGRAMS (100) programs from TRACE_FIRST (1) on. The same
# seed is the same program, compiled in the same way, for one version of the
# generator (tests/lib/call_programs.py). KEEP=FOLDER keeps the files of those
# that differ. tests/lib/trace_sweep.py does the work.
#
# Replays do not follow all yet. What is known not to be exact is left out, but
# for NOT_YET=1, which then tries each of these, one by one:
#
#	signal altstack leave	handlers: where they interrupt, and what they
#				leave
cd "$(dirname "$0")/../.." || exit 1

if [ $# -eq 0 ]; then
	first=${TRACE_FIRST:-1}
	set -- $(seq "$first" $((first + ${TRACE_PROGRAMS:-100} - 1)))
fi
sweep() {
	nice -n 10 python3 tests/lib/trace_sweep.py \
		${ISA:+--isa "$ISA"} ${KEEP:+--keep "$KEEP"} "$@" || failed=1
}
failed=0
if [ -n "${NOT_YET-}" ]; then
	for features in signal signal,altstack signal,leave; do
		echo "== $features"
		sweep --all --own --features recursion,$features "$@"
	done
else
	sweep "$@"
fi
exit $failed
