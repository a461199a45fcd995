#!/bin/sh
# decode-a64: our AArch64 decoder against binutils, over whole programs.
#
#	tests/sweep/decode-a64.sh [DIRECTORY or FILE...]
#
# Every instruction of the files' executable sections is compared in kind,
# target, registers, flags and memory (tests/tools/compare-a64.c). If nothing
# is named: what is installed, on an AArch64 machine; the programs and libraries
# of some Debian packages, which are fetched if need be; and random words.
# Differences that are understood are listed in known-a64.txt; any other fails.
# Output is TAP.

here=$(cd "$(dirname "$0")" && pwd)
compare=${BUILD:-build}/tools/compare-a64
known=$here/known-a64.txt
RANDOM_WORDS=${RANDOM_WORDS:-4000000}
. "$here/../lib/packages.sh"

if [ "$(uname -m)" = aarch64 ]; then
	objdump=objdump
else
	objdump=aarch64-linux-gnu-objdump
fi
if ! command -v $objdump >/dev/null; then
	echo "1..0 # SKIP $objdump is not installed"
	exit 0
fi

# is_a64 FILE: is it an AArch64 program or library? (e_machine is 183 at
# offset 18; e_type before it is 1 for objects, whose targets are not final)
is_a64()
{
	[ "$(od -An -tx1 -N4 "$1" | tr -d ' ')" = 7f454c46 ] &&
		[ "$(od -An -tu2 -j18 -N2 "$1" | tr -d ' ')" = 183 ] &&
		[ "$(od -An -tu2 -j16 -N2 "$1" | tr -d ' ')" != 1 ]
}

number=0
total=0
failed=0

# report NAME STATUS: one TAP line for the comparison left in $out
report()
{
	number=$((number + 1))
	if [ "$2" -eq 0 ]; then
		echo "ok $number - $1"
	else
		failed=$((failed + 1))
		echo "not ok $number - $1"
		grep -v '^known ' "$out" | head -20 | sed 's/^/# /'
	fi
	grep '^known ' "$out" >>"$all"
	total=$((total + $(sed -n 's/^compared \([0-9]*\).*/\1/p' "$out")))
}

# sweep_file FILE: compare one program
sweep_file()
{
	$objdump -d -M no-aliases "$1" | "$compare" "$known" >"$out"
	report "${1##*/}" $?
}

# sweep_random: compare random words, of which two thirds are undefined
sweep_random()
{
	"$compare" -r "$RANDOM_WORDS" 1 >"$tmp/words"
	$objdump -D -z -b binary -m aarch64 -M no-aliases "$tmp/words" |
		"$compare" "$known" >"$out"
	report "$RANDOM_WORDS random words" $?
}

tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
out=$tmp/out
all=$tmp/all
: >"$all"
if [ $# -eq 0 ]; then
	packages_fetch arm64 $PACKAGES_MIX ||
		echo "# some packages are missing; going on with the others"
	sweep_random
	set -- "$(packages_root arm64)"
	[ "$(uname -m)" != aarch64 ] || set -- "$@" /usr/bin /usr/sbin \
		/usr/lib /usr/libexec /usr/local /opt
fi
find "$@" -type f -size +1k 2>"$tmp/absent" | LC_ALL=C sort >"$tmp/list"
while read -r file; do
	is_a64 "$file" && sweep_file "$file"
done <"$tmp/list"
echo "1..$number"
echo "# $total instructions in $number files, $failed files differ"
echo "# differences that are understood:"
awk '{ n = $2; $1 = $2 = ""; count[$0] += n }
     END { for (k in count) print "# " count[k] k }' "$all" | sort -k2
[ "$failed" -eq 0 ]
