#!/bin/sh
# decode-x64.sh [DIRECTORY or FILE ...]: x86-64 decoding against objdump.
#
# Lists every instruction of every x86-64 program and library below the given
# places (default: where systems install them, and on another machine a mix of
# packages) with GNU objdump, and compares each with decode() by compare-x64.
# Copies are taken once. Differences that known-x64.txt
# explains are counted; any other fails the sweep, and so does a file that was
# not compared to its end.
#
#	TALLY_SWEEP_MB   only that many MB of text, of files chosen by build ID
#	JOBS             files at once (2)
#	BUILD            where the tools are built (build)
#	OBJDUMP          GNU objdump that knows x86-64

here=$(dirname "$0")
BUILD=${BUILD:-$here/../../build}
JOBS=${JOBS:-2}
if [ -z "$OBJDUMP" ]; then
	OBJDUMP=objdump
	[ "$(uname -m)" = x86_64 ] || OBJDUMP=x86_64-linux-gnu-objdump
fi
export OBJDUMP
if [ $# -eq 0 ] && [ "$(uname -m)" != x86_64 ]; then
	. "$here/../lib/packages.sh"
	packages_fetch amd64 $PACKAGES_MIX ||
		echo "# some packages are missing; going on with the others"
	set -- "$(packages_root amd64)"
fi
[ $# -gt 0 ] || set -- /usr/bin /usr/sbin /usr/lib /usr/libexec /usr/lib64 \
	/lib /opt /usr/local "$HOME/.rustup"
if ! command -v "$OBJDUMP" >/dev/null; then
	echo "1..0 # SKIP no $OBJDUMP"
	exit 0
fi

work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
export work
COMPARE=$BUILD/tools/compare-x64
KNOWN=$here/known-x64.txt
export COMPARE KNOWN

# one file per identity, whose order is as good as random; up to the limit
tab=$(printf '\t')
find "$@" -type f -size +1k 2>/dev/null | "$BUILD/tools/list-elf" 62 |
	sort -u -t "$tab" -k 2,2 |
	awk -F '\t' -v mb="${TALLY_SWEEP_MB:-0}" '
		!mb || sum + $1 < mb * 1000000 { sum += $1; print $3 }
	' >"$work/files"
if ! [ -s "$work/files" ]; then
	echo "1..0 # SKIP no x86-64 files"
	exit 0
fi

# one output file each, so that jobs do not mix their lines; a total at its
# end says that all of the listing was compared
tr '\n' '\0' <"$work/files" | xargs -0 -n 1 -P "$JOBS" sh -c '
	out=$(mktemp "$work/out.XXXXXX")
	{
		"$OBJDUMP" -d -w -z "$1" 2>/dev/null ||
			echo "failed: $OBJDUMP $1" >"$out.failed"
	} | "$COMPARE" -k "$KNOWN" "$1" >"$out"
' compare

cat "$work"/out.* | awk -F '\t' -v listed="$(wc -l <"$work/files")" '
	$1 == "total" {
		files++
		insns += $2
		empty += $2 == 0
		explained += $3
		unexplained += $4
		next
	}
	$1 == "known" { known[$3 ": " $4] += $2; next }
	/^failed: / { failed++ }
	{ print "# " $0 }
	END {
		for (k in known)
			printf "# %10d %s\n", known[k], k
		printf "# %d of %d files (%d without code), ", files, listed,
			empty
		printf "%d instructions, %d explained, ", insns, explained
		printf "%d unexplained differences\n", unexplained
		print "1..1"
		ok = files == listed && !failed && unexplained == 0
		print (ok ? "ok" : "not ok") " 1 - decode() agrees with objdump"
		exit !ok
	}'
