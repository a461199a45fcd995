# sweep.sh: what sweeps over programs begin with.
#
# Source this file from a script in tests/sweep. Sets
#
#	here	the folder of the script
#	tally	the program
#	work	a folder that goes when the script ends

here=$(cd "$(dirname "$0")" && pwd)
tally=${BUILD:-build}/tally
. "$here/../lib/packages.sh"
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

# sweep_root: fetches packages of all kinds for the other machine, and sets root
# and emulator
sweep_root()
{
	emulator=qemu-$other_isa
	packages_fetch $other_arch $PACKAGES_MIX ||
		echo "# some packages are missing; going on with the others"
	root=$(packages_root $other_arch)
}
