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
case $(uname -m) in
aarch64) isa=x86_64 arch=amd64 ;;
*) isa=aarch64 arch=arm64 ;;
esac
cross=$isa-linux-gnu
there=$build/$isa
need=$there/need
root=$(packages_root $arch)

for tool in $cross-gcc $cross-g++ qemu-$isa; do
	command -v $tool >/dev/null || rebuild_skip "$tool is not installed"
done
packages_fetch $arch libzydis-dev libzydis4.0 libzycore-dev libzycore1.4 \
	libcmocka-dev libcmocka0 libzstd-dev libzstd1 libdw-dev libdw1 \
	libelf-dev libelf1 libiberty-dev zlib1g liblzma5 libbz2-1.0 ||
	rebuild_skip "no packages for $arch"
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT

# take_libraries: what we link with, apart from the other packages there, whose
# C library is not quite the cross compiler's
take_libraries()
{
	rm -rf "$need"
	mkdir -p "$need/include" "$need/lib" || exit 1
	for header in Zydis Zycore cmocka.h cmocka_version.h zstd.h zstd_errors.h \
		      elfutils libelf.h gelf.h nlist.h dwarf.h libiberty; do
		[ ! -e "$root/usr/include/$header" ] ||
			ln -s "$root/usr/include/$header" "$need/include"
	done
	for library in Zydis Zycore cmocka zstd dw elf iberty z lzma bz2; do
		for file in "$root/lib/$cross/lib$library".[as]* \
			    "$root/lib/$cross/lib$library"-*.so \
			    "$root/usr/lib/$cross/lib$library".[as]* \
			    "$root/usr/lib/$cross/lib$library"-*.so; do
			[ ! -e "$file" ] || ln -s "$file" "$need/lib"
		done
	done
}

# emulated PROGRAM...: run a program of the other machine
emulated()
{
	qemu-$isa -L /usr/$cross -E LD_LIBRARY_PATH="$need/lib" "$@"
}

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

take_libraries
rebuild "$there" CC=$cross-gcc AR=$cross-ar CFLAGS="-I$need/include" \
	LDFLAGS="-L$need/lib -Wl,-rpath-link,$need/lib"
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
