#!/bin/bash
# count: real programs, run by tally count with all their libraries, answer as
# the originals do, and counters on edges tell the same of every instruction as
# counters in every block.
#
#	tests/sweep/count.sh [NAME...]
#
# The programs are those of foreign Debian packages, run in qemu; on an AArch64
# machine there are none yet.

here=$(cd "$(dirname "$0")" && pwd)
tally=${BUILD:-build}/tally
. "$here/../lib/packages.sh"

if [ "$(uname -m)" = aarch64 ]; then
	echo "1..0 # SKIP only where AArch64 is emulated"
	exit 0
fi
packages_fetch arm64 $PACKAGES_MIX ||
	echo "# some packages are missing; going on with the others"
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
nice -n 10 python3 "$here/../lib/count_sweep.py" "$tally" \
	"$(packages_root arm64)" "$work" "$@"
