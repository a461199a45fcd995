#!/bin/bash
# rewrite: every program of an AArch64 root, with all its libraries rewritten,
# answers --version and --help as the original does. Four ways:
#
#	tests/sweep/rewrite.sh [NAME...]
#
#	moved		tally instrument --placement none
#	trapping	the same with --trap-unexpected: no slot is reached
#			that was not expected
#	inserted	code before every block and on every edge (insert-
#			everywhere -m -f): dead registers are dead
#	counted		counters on edges, as tally count has them
#
# The root is made of foreign Debian packages and run in qemu.

. "$(dirname "$0")/../lib/sweep.sh"
sweep_root
n=0 failed=0

# way NAME OPTION...: one sweep; the tree of the last is not kept
way() {
	name=$1
	shift
	n=$((n + 1))
	nice -n 10 python3 "$here/../lib/rewrite_sweep.py" "$tally" \
		"$(packages_root arm64)" "$work/root" \
		--emulator qemu-aarch64 "$@" >"$work/out"
	status=$?
	sed 's/^/# /' "$work/out"
	rm -rf "$work/root"
	if [ $status -eq 0 ]; then
		echo "ok $n - $name"
	else
		echo "not ok $n - $name"
		failed=1
	fi
}

way moved "$@"
way trapping --trap "$@"
way inserted "--insert=-m -f" "$@"
way counted --placement edges --trap "$@"
echo "1..$n"
exit $failed
