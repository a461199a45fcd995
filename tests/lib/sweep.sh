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

# sweep_root: fetches AArch64 packages of all kinds, and sets root
sweep_root()
{
	packages_fetch arm64 $PACKAGES_MIX ||
		echo "# some packages are missing; going on with the others"
	root=$(packages_root arm64)
}

# sweep_emulated: ends the script where AArch64 is not emulated (NEEDSWORK:
# there, its own programs)
sweep_emulated()
{
	if [ "$(uname -m)" = aarch64 ]; then
		echo "1..0 # SKIP only where AArch64 is emulated"
		exit 0
	fi
}
