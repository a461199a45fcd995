#!/bin/sh
# other-machine: tally for the other machine says what it says on this one.
#
# Debian's cross compiler builds tally and its unit tests, with libraries from
# the other machine's packages, and qemu runs them: every unit test passes, and
# `tally cfg` of files of both machines gives the same bytes and the same
# status as the build for this machine.

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

rebuild_other
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
rebuild_units "$there" emulated
rebuild_end
