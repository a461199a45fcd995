#!/bin/bash
# peers: programs from source, as other counters need them.
#
#	[TRIPLET=x86_64-linux-gnu] bench/peers.sh WAY [NAME...]
#
# The sources are Debian's. Ways to build them, the first two with -O2:
#
#	plain	with relocations kept for llvm-bolt (-Wl,-q): what everybody
#		instruments, and is measured against
#	gcov	with gcc's own counters (--coverage)
#	lines	not optimized, with debug information: what lines are told by
#	lines-gcov
#		the same with gcc's own counters
#
# Their own libraries are linked in, so that all see the same code. Builds are
# kept under the cache of tests/lib/packages.sh, in peers/NAME/WAY/NAME, those
# for another machine, which TRIPLET names, in peers/NAME/WAY-TRIPLET/NAME.
# Prints for each a line "NAME ok PATH", or "NAME no REASON".

cd "$(dirname "$0")/.." || exit 1
. tests/lib/packages.sh
PEERS="bzip2 gzip xz lua5.4 sqlite3 gawk minisat"

# of each program: its source package, and how it is built in the top folder of
# that, as ./NAME; given: $cflags, $ldflags, ${cross}gcc, $zlib

source_bzip2=bzip2
build_bzip2()
{
	${cross}gcc $cflags -D_FILE_OFFSET_BITS=64 $ldflags -o bzip2 bzip2.c \
		blocksort.c huffman.c crctable.c randtable.c compress.c \
		decompress.c bzlib.c
}

source_gzip=gzip
build_gzip()
{
	configured && make -j2 SUBDIRS='lib .'
}

source_xz=xz-utils
build_xz()
{
	configured --disable-shared --disable-doc --disable-nls &&
		make -j2 && mv src/xz/xz xz
}

source_lua5_4=lua5.4
build_lua5_4()
{
	rm -f src/luac.c
	echo "#define DEB_HOST_MULTIARCH \"\"" >src/lua5.4-deb-multiarch.h
	${cross}gcc $cflags -DLUA_USE_LINUX $ldflags -Wl,-E -o lua5.4 \
		src/*.c -lm -ldl
}

# its own make, with tools of this machine, puts its sources together into one,
# which the shell is built with
source_sqlite3=sqlite3
build_sqlite3()
{
	TRIPLET= configured --disable-tcl --disable-readline &&
		make -j2 sqlite3.c shell.c &&
		${cross}gcc $cflags $ldflags -DSQLITE_THREADSAFE=0 \
			-DSQLITE_OMIT_LOAD_EXTENSION -o sqlite3 shell.c \
			sqlite3.c -lm
}

source_gawk=gawk
build_gawk()
{
	configured --disable-mpfr --without-readline --disable-extensions &&
		make -j2 -C support && make -j2 gawk
}

source_minisat=minisat2
build_minisat()
{
	${cross}g++ $cflags -D__STDC_LIMIT_MACROS -D__STDC_FORMAT_MACROS -I. \
		$ldflags -o minisat.new minisat/simp/Main.cc \
		minisat/simp/SimpSolver.cc minisat/core/Solver.cc \
		minisat/utils/Options.cc minisat/utils/System.cc $zlib &&
		rm -rf minisat && mv minisat.new minisat
}

# its own tests, which nothing else is measured by
source_jsoncpp=libjsoncpp
build_jsoncpp()
{
	${cross}g++ $cflags -Iinclude $ldflags -o jsoncpp src/lib_json/*.cpp \
		src/test_lib_json/*.cpp
}

# configured OPTION...: GNU configure
configured()
{
	./configure ${TRIPLET:+"--host=$TRIPLET"} CFLAGS="$cflags" \
		LDFLAGS="$ldflags" "$@"
}

# flags WAY: what a way of building is
flags()
{
	case $1 in
	plain) cflags="-O2" ldflags="-Wl,-q" ;;
	gcov) cflags="-O2 --coverage" ldflags="--coverage" ;;
	lines) cflags="-O0 -g" ldflags="" ;;
	lines-gcov) cflags="-O0 -g --coverage" ldflags="--coverage" ;;
	esac
}

# build: in a copy of the source, which stays as gcov looks there; requires:
# $name, $way, $home, $built
build()
{
	of=source_${name//./_}
	[ -d "$home/source" ] ||
		packages_source "${!of}" "$home/source" || return
	rm -rf "$built" && cp -a "$home/source" "$built" && flags "$way" &&
		cd "$built" && "build_${name//./_}" && [ -f "$built/$name" ]
}

# why: the last line of a log that says something
why()
{
	grep -E '[Ee]rror|not found|^E:' "$1" | tail -n 1 | grep . || echo "see $1"
}

way=$1 cross=${TRIPLET:+$TRIPLET-} zlib=-lz
shift
# of another machine there is no libz.so, but a root with the library
[ -z "$TRIPLET" ] || zlib=$(find "$PACKAGES_CACHE"/*/root \
	-path "*/$TRIPLET/libz.so.1" | head -n 1)
[ $# -gt 0 ] || set -- $PEERS
for name; do
	home=$PACKAGES_CACHE/peers/$name
	built=$home/$way${TRIPLET:+-$TRIPLET}
	mkdir -p "$home" && exec 9>"$home/lock" && flock 9 || continue
	if [ -f "$built/$name" ] || (build) >"$built.log" 2>&1 </dev/null
	then
		echo "$name ok $built/$name"
	else
		rm -rf "${built:?}"
		echo "$name no $(why "$built.log")"
	fi
done
