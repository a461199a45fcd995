#!/bin/bash
# count: real programs, run by tally count with all their libraries, answer as
# the originals do, and counters on edges tell the same of every instruction as
# counters in every block.
#
#	tests/sweep/count.sh native|foreign [NAME...]
#
# Native are the programs of this system; a debugger's steps say what they ran,
# and which share of it is measured. Foreign are those of packages for the other
# machine, run in qemu. Both, if nothing is said.

. "$(dirname "$0")/../lib/sweep.sh"

# sweep OPTION...: the programs of $root
sweep() {
	nice -n 10 python3 "$here/../lib/count_sweep.py" "$tally" \
		"$root" "$work" "$@"
}

which=native
case ${1-} in
native | foreign) which=$1 && shift ;;
*) "$0" foreign "$@" || failed=1 ;;
esac
if [ $which = native ]; then
	root=/
	sweep --steps "$(dirname "$tally")/tools/step-counts" "$@" || failed=1
else
	sweep_root
	sweep --emulator "$emulator -L $root" "$@" || failed=1
fi
exit ${failed-0}
