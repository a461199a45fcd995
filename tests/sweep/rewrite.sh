#!/bin/bash
# rewrite: every program of this system, and of a root of the other machine, with
# all its libraries rewritten, answers --version and --help as the original does.
# Five ways:
#
#	tests/sweep/rewrite.sh [NAME...]
#
#	moved		tally instrument --placement none
#	trapping	the same with --trap-unexpected: no old place is
#			reached that was not expected
#	inserted	code before every block and on every edge (insert-
#			everywhere -m -f): dead registers are dead
#	poisoned	all that is dead is overwritten, before every
#			instruction and on every edge
#	counted		counters on edges, as tally count has them
#
# The root is made of foreign Debian packages and run in qemu. MACHINES: which
# (native foreign); WAYS: which ways.

. "$(dirname "$0")/../lib/sweep.sh"
n=0 failed=0

# way NAME OPTION...: one sweep of $root, if that way is wanted; the tree of the
# last is not kept
way() {
	name="$machine, $1"
	case " ${WAYS-$1} " in *" $1 "*) ;; *) return ;; esac
	shift
	n=$((n + 1))
	nice -n 10 python3 "$here/../lib/rewrite_sweep.py" "$tally" \
		"$root" "$work/root" "$@" >"$work/out"
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

# ways NAME OPTION...: all of them, with these options
ways() {
	machine=$1
	shift
	way moved "$@"
	way trapping --trap "$@"
	way inserted "--insert=-m -f" "$@"
	way poisoned --placement poison "$@"
	way counted --placement edges --trap "$@"
}

for which in ${MACHINES:-native foreign}; do
	if [ $which = native ]; then
		root=/
		ways "this system" --native "$@"
	else
		sweep_root
		ways "packages for $other_arch" --emulator $emulator "$@"
	fi
done
echo "1..$n"
exit $failed
