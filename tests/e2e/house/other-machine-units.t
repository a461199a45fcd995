#!/bin/sh
# other-machine-units: the unit tests pass on the other machine, too: they are
# built as in other-machine.t, and run by qemu.

. tests/lib/packages.sh
. tests/lib/rebuild.sh

REBUILD_GOAL=units rebuild_other
rebuild_units "$there" emulated
rebuild_end
