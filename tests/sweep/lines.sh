#!/bin/sh
# lines: counts of lines beside gcov's, of real programs that are not optimized:
# at least 99 in 100 are the same (tests/lib/line_compare.py tells of the rest).
# What differs is listed under build/sweep/lines. NAMES: the programs, which
# bench/peers.sh builds; jsoncpp is not among them: 98.5 in 100. gcov counts a
# statement that returns again for each destructor that runs behind it, of all
# returns of a function the first for what they share, and braces in the
# opposite way.
set -u
cd "$(dirname "$0")/../.."
build=${BUILD:-build} failed=0
. tests/lib/packages.sh
mkdir -p "$build/sweep/lines"
for name in ${NAMES:-sqlite3 gawk minisat}; do
	for way in lines lines-gcov; do
		bench/peers.sh $way "$name" | grep " no "
	done
	home=$PACKAGES_CACHE/peers/$name
	tests/lib/line_compare.py "$build/tally" "$name" "$home/lines" \
		"$home/lines-gcov" "$build/sweep/lines/$name" || failed=1
done
exit $failed
