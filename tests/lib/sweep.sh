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

# sweep_both SCRIPT.py OPTION... -- [native|foreign] [NAME...]: a sweep over
# programs of this system, with these options, and over those of packages for
# the other machine, run in qemu; both, if nothing is said. Does not return
sweep_both()
{
	script=$1 options=() which=native failed=0
	shift
	while [ "$1" != -- ]; do options+=("$1") && shift; done
	shift
	case ${1-} in
	native | foreign) which=$1 && shift ;;
	*) "$0" foreign "$@" || failed=1 ;;
	esac
	if [ $which = native ]; then
		root=/
	else
		sweep_root
		options=(--emulator "$emulator -L $root")
	fi
	nice -n 10 python3 "$here/../lib/$script" "${options[@]}" "$tally" \
		"$root" "$work" "$@" || failed=1
	exit $failed
}
