#!/bin/bash
# suites: the test suites of Debian source packages, built for a machine, find
# in rewritten programs and libraries what they find in the originals, test by
# test.
#
#	tests/sweep/suites.sh [NAME...]
#
# Names and recipes are in tests/lib/suites.sh. Each suite runs with the files
# as built ("plain") and with all of them rewritten, once for each of
# SUITE_WAYS (moved trap poison counted; ways of tests/lib/dress.py). Of those that are
# counted every profile has to be readable. MACHINES: for which (aarch64 x86_64;
# those of this machine run natively). Sources and built trees are kept under the
# cache of tests/lib/packages.sh, in suites/MACHINE/NAME:
#
#	built/		as make left it
#	tree/		where it was built, and where it is tested
#	WAY.results	one line per test: its name and how it ended
#	WAY.log		what the suite said

. "$(dirname "$0")/../lib/sweep.sh"
cd "$here/../.." || exit 1
top=$PWD
[ "$1" = --one ] && machine=$2 || machine=$(uname -m)
. tests/lib/suites.sh
export LC_ALL=C

# build: fetches and builds what is not there; requires: $name, $home
build()
{
	[ ! -d "$home/built" ] || return 0
	rm -rf "$home/tree"
	packages_source "$name" "$home/tree" || return 1
	(cd "$home/tree" && "build_${name//[-.]/_}") >"$home/build.log" 2>&1 \
		</dev/null || return 1
	mv "$home/tree" "$home/built"
}

# check WAY [NAME]: the results of one run, as NAME; requires: build
check()
{
	rm -rf "$home/tree" "$home/store"
	cp -a "$home/built" "$home/tree" &&
		python3 "$top/tests/lib/dress.py" $machine "$1" "$home/tree" \
			"$home/store" >"$home/$1.figures" || return 1
	(cd "$home/tree" && "check_${name//[-.]/_}") 2>"$home/${2:-$1}.log" \
		</dev/null | sort >"$home/${2:-$1}.results"
	[ "$1" != counted ] || python3 "$top/tests/lib/profiles.py" \
		"$top/${BUILD:-build}/tally" "$home/store/profiles" \
		>"$home/$1.figures"
}

# unsteady: tests that the originals themselves do not end the same way twice
unsteady()
{
	[ -e "$home/again.results" ] || check plain again
	comm -3 "$home/plain.results" "$home/again.results" |
		sed 's/^\t//; s/ [^ ]*$//' | sort -u
}

# compare WAY: prints what ends otherwise than in the originals
compare()
{
	cmp -s "$home/plain.results" "$home/$1.results" && return
	diff "$home/plain.results" "$home/$1.results" | grep '^[<>]' |
		grep -vFf <(unsteady | sed 's/$/ /') |
		grep -vFf <(differs "$1" | tr ' ' '\n' | sed 's/.*/ & /')
}

# differs WAY: tests that have a reason to, by tests/lib/suites.sh
differs()
{
	differs_name=differs_${name//[-.]/_}_$1
	echo "${!differs_name:-no test}"
}

# suite NAME: all of one suite, and one line of TAP without its number
suite()
{
	name=$1 home=$PACKAGES_CACHE/suites/$machine/$1
	mkdir -p "$home" && exec 9>"$home/lock" && flock 9 || return
	rm -f "$home"/*.results
	if ! build || ! check plain; then
		echo "not ok - $machine $name: cannot be built"
		tail -5 "$home/build.log" | sed 's/^/#   /'
		return
	fi
	said= bad=
	for way in ${SUITE_WAYS:-moved trap poison counted}; do
		differs="cannot be rewritten, or its profiles not be read"
		check "$way" && differs=$(compare "$way")
		if [ -n "$differs" ]; then
			bad=yes said="$said, $way differs"
			echo "$differs" | head -20 | sed 's/^/#   /'
		else
			said="$said, $way equal"
		fi
	done
	passed=$(grep -ciE ' (pass|ok)$' "$home/plain.results")
	[ "$passed" -gt 0 ] || bad=yes
	echo "${bad:+not }ok - $machine $name: $(wc -l <"$home/plain.results") tests," \
		"$passed pass$said"
	[ ! -e "$home/again.results" ] || unsteady | sed 's/^/#   unsteady: /'
}

if [ "$1" = --one ]; then
	suite "$3"
	exit
fi
[ $# -gt 0 ] || set -- $SUITES
machines=${MACHINES:-aarch64 x86_64}

# all_suites NAME...: each, of each machine
all_suites()
{
	for m in $machines; do
		printf "$m %s\n" "$@"
	done
}

n=0 failed=0
while IFS= read -r line; do
	case $line in
	*"ok - "*)
		n=$((n + 1))
		line="${line%%ok - *}ok $n - ${line#*ok - }"
		;;
	esac
	case $line in
	"not ok"*) failed=1 ;;
	esac
	echo "$line"
done < <(all_suites "$@" | nice -n 10 xargs -P 2 -n 2 "$here/suites.sh" --one)
echo "1..$n"

# figures WAY NAME...: sums over the suites
figures()
{
	way=$1
	shift
	all_suites "$@" | while read -r m name; do
		[ "$way" != counted ] || echo "$m $name:"
		cat "$PACKAGES_CACHE/suites/$m/$name/$way.figures"
	done | if [ "$way" = counted ]; then
		cat
	else
		python3 tests/lib/rewrite_sweep.py --sum
	fi
}

for way in ${SUITE_WAYS:-moved trap poison counted}; do
	echo "# $way:"
	figures "$way" "$@" | sed 's/^/# /'
done
exit $failed
