#!/bin/sh
# other-machine: tally for the other machine says what it says on this one.
#
# Debian's cross compiler builds tally, with libraries from the other machine's
# packages, and qemu runs it: `tally cfg` of files of both machines gives the
# same bytes and the same status as the build for this machine. Programs of this
# machine, which it runs in an emulator, it counts as the build for this machine
# does.

. tests/lib/packages.sh
. tests/lib/rebuild.sh

build=${BUILD:-build}
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT

# same STATUS NAME WORD...: both builds answer alike, with that status
same()
{
	want=$1
	name=$2
	shift 2
	"$build/tally" "$@" >"$tmp/out" 2>"$tmp/err"
	here=$?
	emulated "$there/tally" "$@" >"$tmp/out2" 2>"$tmp/err2"
	status=$?
	{
		echo "status $here here and $status there; want $want"
		diff "$tmp/err" "$tmp/err2"
		cmp "$tmp/out" "$tmp/out2"
	} >"$tmp/differ"
	[ $here -eq $want ] && [ $status -eq $want ] &&
		cmp -s "$tmp/err" "$tmp/err2" && cmp -s "$tmp/out" "$tmp/out2"
	rebuild_ok $? "$name" "$tmp/differ"
}

# try_files MACHINE PREFIX: programs and libraries by the compiler so called
try_files()
{
	"$2gcc" -O2 -w -DNO_THROW -DNO_IFUNC -o "$tmp/program" \
		tests/progs/switch.c tests/progs/goto.c tests/progs/tail.c \
		tests/progs/noret.c tests/progs/misc.c &&
		"$2g++" -O2 -w -shared -fPIC -o "$tmp/library.so" \
			tests/progs/throw.cc
	rebuild_ok $? "$1: samples are built"
	same 0 "$1: a C program" cfg --json "$tmp/program"
	same 0 "$1: a C program, as text" cfg "$tmp/program"
	same 0 "$1: one procedure" cfg "$tmp/program" main
	same 0 "$1: one procedure, as dot" cfg --dot "$tmp/program" main
	same 0 "$1: a C++ library" cfg --json "$tmp/library.so"
	for lib in libc.so.6 libstdc++.so.6; do
		same 0 "$1: $lib" \
			cfg --json "$("$2gcc" -print-file-name=$lib)"
	done
	head -c 5000 "$tmp/program" >"$tmp/half"
	same 3 "$1: half a program" cfg "$tmp/half"
	same 3 "$1: no such procedure" cfg "$tmp/program" nowhere
}

# same_counts NAME PROGRAM [WORD...]: the program says the same and ends alike,
# and its instructions ran as often, where tally counts here and there
same_counts()
{
	name=$1
	shift
	XDG_CACHE_HOME=$tmp/cache "$build/tally" count --quiet --strict \
		-o "$tmp/tally" -- "$@" >"$tmp/out" 2>"$tmp/err"
	here=$?
	XDG_CACHE_HOME=$tmp/cache2 emulated "$there/tally" count --quiet \
		--strict -o "$tmp/tally2" -- "$@" >"$tmp/out2" 2>"$tmp/err2"
	status=$?
	image="^${1##*/}	"
	"$build/tally" export --format tsv "$tmp/tally" 2>>"$tmp/err" |
		grep "$image" >"$tmp/tsv"
	emulated "$there/tally" export --format tsv "$tmp/tally2" \
		2>>"$tmp/err2" | grep "$image" >"$tmp/tsv2"
	{
		echo "status $here here and $status there"
		diff "$tmp/err" "$tmp/err2"
		cmp "$tmp/out" "$tmp/out2"
		diff "$tmp/tsv" "$tmp/tsv2" | head
	} >"$tmp/differ"
	[ $here -eq $status ] && [ -s "$tmp/tsv" ] &&
		cmp -s "$tmp/err" "$tmp/err2" &&
		cmp -s "$tmp/out" "$tmp/out2" && cmp -s "$tmp/tsv" "$tmp/tsv2"
	rebuild_ok $? "$name" "$tmp/differ"
}

# try_counts MACHINE: programs of this machine, counted
try_counts()
{
	gcc -O2 -w -o "$tmp/flow" tests/progs/rewrite/flow.c &&
		gcc -O2 -w -o "$tmp/calls" tests/progs/count/calls.c -ldl \
			-lpthread &&
		gcc -O2 -w -o "$tmp/labels" tests/progs/rewrite/labels.c &&
		g++ -O2 -w -o "$tmp/leave" tests/progs/count/leave.cc
	rebuild_ok $? "$1: programs to count are built"
	same_counts "$1: flow is counted there" "$tmp/flow"
	same_counts "$1: jumps to labels" "$tmp/labels"
	same_counts "$1: exceptions" "$tmp/leave"
	same_counts "$1: threads" "$tmp/calls" threads
	same_counts "$1: children" "$tmp/calls" fork
	same_counts "$1: gzip" /usr/bin/gzip -9 -n -c Makefile
}

REBUILD_GOAL=all rebuild_other
try_files "$(uname -m)" ''
try_files $isa $cross-
echo hello >"$tmp/text"
: >"$tmp/empty"
same 2 "no words" cfg
same 2 "no such option" cfg --jsn "$tmp/program"
same 2 "no such command" cgf
same 3 "no such file" cfg "$tmp/absent"
same 3 "a text" cfg "$tmp/text"
same 3 "an empty file" cfg "$tmp/empty"
same 3 "a folder" cfg "$tmp"
try_counts "$(uname -m)"
rebuild_end
