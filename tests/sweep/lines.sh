#!/bin/sh
# lines: counts of lines beside gcov's, of real programs that are not optimized:
# at least 99 in 100 are the same (tests/lib/line_compare.py tells of the rest).
# What differs is listed under build/sweep/lines. NAMES: the programs, which
# bench/peers.sh builds; jsoncpp, whose exceptions and destructors gcov sees
# otherwise, is not among them: 95 in 100.
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
