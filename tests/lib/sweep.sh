# sweep.sh: what sweeps over programs of the emulated machine begin with.
#
# Source this file from a script in tests/sweep. Sets
#
#	here	the folder of the script
#	tally	the program
#	work	a folder that goes when the script ends
#
# On an AArch64 machine nothing is done yet (NEEDSWORK: its own programs).

here=$(cd "$(dirname "$0")" && pwd)
tally=${BUILD:-build}/tally
. "$here/../lib/packages.sh"

if [ "$(uname -m)" = aarch64 ]; then
	echo "1..0 # SKIP only where AArch64 is emulated"
	exit 0
fi
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

# sweep_root: fetches the packages of all kinds
sweep_root()
{
	packages_fetch arm64 $PACKAGES_MIX ||
		echo "# some packages are missing; going on with the others"
}
