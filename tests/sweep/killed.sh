#!/bin/bash
# killed: programs that SIGKILL ends at any moment, under `tally count
# --trace-kill`, on a whole emulated AArch64 machine (tests/lib/machine.py):
# counts are exact. On an AArch64 machine tests/e2e/count/ends.t does the same
# natively. KILLS (4): how often of each kind.
#
#	tests/sweep/killed.sh

. "$(dirname "$0")/../lib/sweep.sh"
cd "$here/../.." || exit 1
. tests/lib/rebuild.sh

command -v qemu-system-aarch64 >/dev/null ||
	rebuild_skip "qemu-system-aarch64 is not installed"
cross=aarch64-linux-gnu
packages_fetch arm64 $REBUILD_NEEDS || rebuild_skip "no packages for arm64"
root=$(packages_root arm64)
there=${BUILD:-build}/machine
need=$there/need

# a kernel and what it starts, apart from the programs of other tests
PACKAGES_CACHE=$PACKAGES_CACHE/machine
packages_init arm64 || rebuild_skip "no packages for arm64"
kernel=$(packages_apt arm64 --print-uris --no-install-recommends install \
	linux-image-cloud-arm64 | sed -n "s/^'[^']*' \(linux-image-[0-9][^_]*\)_.*/\1/p")
packages_fetch arm64 "$kernel" busybox-static ||
	rebuild_skip "no kernel for arm64"

rebuild_need "$need" "$root" $cross
(REBUILD_GOAL=all rebuild "$there" CC=$cross-gcc AR=$cross-ar \
	CFLAGS="-I$need/include" \
	LDFLAGS="-L$need/lib -Wl,-rpath-link,$need/lib") >"$work/log"
if grep "^not ok" -A 20 "$work/log"; then
	exit 1
fi
nice -n 10 python3 tests/lib/kill_sweep.py "$there/tally" \
	"$(packages_root arm64)" "$need" "$work" "${KILLS:-4}"
