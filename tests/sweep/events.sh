#!/bin/bash
# events: real programs under tally events, with all their libraries: running
# counters and edge profiles tell the same of every event.
#
#	tests/sweep/events.sh native|foreign [NAME...]
#
# Native are programs of this system, foreign those of packages for the other
# machine, run in qemu. Both, if nothing is said.

. "$(dirname "$0")/../lib/sweep.sh"

sweep() {
	nice -n 10 python3 "$here/../lib/events_sweep.py" "$tally" \
		"$root" "$work" "$@"
}

which=native
case ${1-} in
native | foreign) which=$1 && shift ;;
*) "$0" foreign "$@" || failed=1 ;;
esac
if [ $which = native ]; then
	root=/
	sweep "$@" || failed=1
else
	sweep_root
	sweep --emulator "$emulator -L $root" "$@" || failed=1
fi
exit ${failed-0}
