#!/bin/bash
# rest: tests of `make check` that leave something out there (tests/lib/rest.py:
# ways to rewrite that others contain, more random programs, large libraries),
# with all of it.
#
#	tests/sweep/rest.sh [TEST...]
cd "$(dirname "$0")/../.." || exit 1

if [ $# -eq 0 ]; then
	mapfile -t tests < <(grep -rlx 'from rest import .*' tests/e2e)
	set -- "${tests[@]}"
fi
BUILD=${BUILD:-build} TALLY_TEST_ALL=1 PERL5LIB=$PWD/tests/lib \
	nice -n 10 prove -j"$(nproc)" -PTally --exec '' "$@"
