#!/bin/bash
# torture: gcc's own test programs in C, C++ and Fortran (Debian's source of
# gcc-12), compiled by gcc and clang at several levels, do the same when all
# that is dead is overwritten.
#
#	tests/sweep/torture.sh [NAME...]
#
# MACHINES: for which (aarch64 x86_64); WAYS: how they are rewritten (poison);
# EVERY: one of so many files of each program (1; of the machine that is
# emulated 4). tests/lib/torture_sweep.py does the work.

. "$(dirname "$0")/../lib/sweep.sh"
cd "$here/../.." || exit 1
arch=$(dpkg --print-architecture)
failed=0

packages_fetch "$arch" gcc-12-source || exit 1
source=$PACKAGES_CACHE/gcc-12-testsuite
if [ ! -d "$source" ]; then
	mkdir -p "$work/gcc" &&
		tar -xf "$(packages_root "$arch")"/usr/src/gcc-12/gcc-*.tar.xz \
			-C "$work/gcc" --strip-components=2 --wildcards \
			'*/gcc/testsuite' && mv "$work/gcc/testsuite" "$source" ||
		exit 1
fi
for machine in ${MACHINES:-aarch64 x86_64}; do
	[ $machine = $this_isa ] && every=1 || every=4
	nice -n 10 python3 tests/lib/torture_sweep.py --ways "${WAYS:-poison}" \
		--every ${EVERY:-$every} "$source" $machine "$@" || failed=1
done
exit $failed
