#!/bin/sh
# calls: what calls cost in random programs whose calls begin and end in all
# ways, as tally events --per-call-site says, is what single steps say.
#
#	tests/sweep/calls.sh [SEED...]
#
# Without seeds, CALL_PROGRAMS (100) programs from CALL_FIRST (1) on, one in
# twenty with a recursion 50,000 deep. The same seed is the same program,
# compiled in the same way, for one version of the generator
# (tests/lib/call_programs.py). A failure names its seed, and the features with
# which it still fails; KEEP=FOLDER keeps its files. MACHINES: for which
# (aarch64 x86_64). tests/lib/call_compare.py does the work.
cd "$(dirname "$0")/../.." || exit 1

first=${CALL_FIRST:-1}
n=${CALL_PROGRAMS:-100}
deep=
if [ $# -eq 0 ]; then
	set -- $(seq "$first" $((first + n - 1)))
	deep=$(seq "$first" 20 $((first + n - 1)))
fi
failed=0
compare() {
	nice -n 10 python3 tests/lib/call_compare.py --shrink \
		${KEEP:+--keep "$KEEP"} "$@" || failed=1
}

for machine in ${MACHINES:-aarch64 x86_64}; do
	compare "$machine" "$@"
	[ -z "$deep" ] ||
		compare --deep 50000 --features recursion,tail,deep,jump \
			"$machine" $deep
done
exit $failed
