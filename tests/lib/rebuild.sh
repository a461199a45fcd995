# rebuild.sh: tally built in another way, by another compiler or for another
# machine, and its unit tests there; results as TAP.
#
# Source this file from a test script that runs in the top folder. The unit
# tests have run in full in the usual build: a sample of their random cases is
# enough here.

export TALLY_TEST_GRAPHS="${TALLY_TEST_GRAPHS:-2000}"
export TALLY_TEST_EVERY="${TALLY_TEST_EVERY:-331}"
rebuild_number=0

# packages of another machine that tally there is built with
REBUILD_NEEDS="libzydis-dev libzydis4.0 libzycore-dev libzycore1.4
libcmocka-dev libcmocka0 libzstd-dev libzstd1 libdw-dev libdw1
libelf-dev libelf1 libiberty-dev zlib1g-dev zlib1g liblzma5 libbz2-1.0
libsqlite3-dev libsqlite3-0 libbpf-dev libbpf1"

# rebuild_need FOLDER ROOT CROSS: what we link with, apart from the other
# packages in ROOT, whose C library is not quite the cross compiler's. If all is
# there it is left alone: programs of another test may be about to load it
rebuild_need()
{
	rm -rf "$1.new"
	rebuild_links "$1.new" "$2" "$3"
	if diff -r --no-dereference "$1.new" "$1" >"$1.log" 2>&1; then
		rm -rf "$1.new"
	else
		rm -rf "$1" && mv "$1.new" "$1" || exit 1
	fi
}

# rebuild_links FOLDER ROOT CROSS: a new folder of links
rebuild_links()
{
	mkdir -p "$1/include" "$1/lib" || exit 1
	for header in Zydis Zycore cmocka.h cmocka_version.h zstd.h zstd_errors.h \
		      elfutils libelf.h gelf.h nlist.h dwarf.h libiberty \
		      zlib.h zconf.h sqlite3.h bpf; do
		[ ! -e "$2/usr/include/$header" ] ||
			ln -s "$2/usr/include/$header" "$1/include"
	done
	for library in Zydis Zycore cmocka zstd dw elf iberty z lzma bz2 sqlite3 \
		       bpf; do
		for file in "$2/lib/$3/lib$library".[as]* \
			    "$2/lib/$3/lib$library"-*.so \
			    "$2/usr/lib/$3/lib$library".[as]* \
			    "$2/usr/lib/$3/lib$library"-*.so; do
			[ ! -e "$file" ] || ln -s "$file" "$1/lib"
		done
	done
}

# rebuild_other: tally for the other machine; sets isa, cross, there (where it
# is), need (its libraries)
rebuild_other()
{
	isa=$other_isa
	cross=$isa-linux-gnu
	there=${BUILD:-build}/$isa
	need=$there/need
	for tool in $cross-gcc $cross-g++ qemu-$isa; do
		command -v $tool >/dev/null ||
			rebuild_skip "$tool is not installed"
	done
	packages_fetch $other_arch $REBUILD_NEEDS ||
		rebuild_skip "no packages for $other_arch"
	# who wants the same waits until it is there
	mkdir -p "$there" && exec 8>"$there/lock" && flock 8 || exit 1
	rebuild_need "$need" "$(packages_root $other_arch)" $cross
	# what travels in programs is made by the same compilers, in the same
	# way, whatever machine tally is for; nor is it touched if it is there
	mkdir -p "$there/lib" || exit 1
	[ ! -d "${BUILD:-build}/lib/tally" ] ||
		cp -Rpu "${BUILD:-build}/lib/tally" "$there/lib" || exit 1
	# the old kind of path: libraries of libraries are there, too
	rebuild "$there" CC=$cross-gcc AR=$cross-ar \
		CFLAGS="-isystem $need/include" LDFLAGS="-L$need/lib \
-Wl,--disable-new-dtags,-rpath,$(realpath "$need")/lib"
	exec 8>&-
}

# emulated PROGRAM...: run a program of the other machine
emulated()
{
	qemu-$isa -L /usr/$cross "$@"
}

# rebuild_as_host NAME...: programs in $there/as-host that run those there by
# the emulator, as if they were of this machine; as new as they are
rebuild_as_host()
{
	for rebuild_name; do
		rebuild_file=$there/as-host/$rebuild_name
		mkdir -p "${rebuild_file%/*}" || exit 1
		[ "$rebuild_file" -nt "$there/$rebuild_name" ] ||
			cc -O2 -D_GNU_SOURCE -DEMULATOR="\"qemu-$isa\"" \
			   -DROOT="\"/usr/$cross\"" -DPROGRAM="\"$(
				realpath "$there/$rebuild_name")\"" \
			   -o "$rebuild_file" tests/lib/as-host.c || exit 1
	done
}

# rebuild_ok STATUS NAME [FILE]: one result; if bad, FILE says what happened
rebuild_ok()
{
	rebuild_number=$((rebuild_number + 1))
	if [ "$1" -eq 0 ]; then
		echo "ok $rebuild_number - $2"
	else
		echo "not ok $rebuild_number - $2"
		[ -z "$3" ] || tail -20 "$3" | sed 's/^/#   /'
	fi
}

# rebuild_end: every result is there
rebuild_end()
{
	echo "1..$rebuild_number"
	exit 0
}

# rebuild_skip REASON: leave it all
rebuild_skip()
{
	echo "1..0 # SKIP $1"
	exit 0
}

# rebuild FOLDER VARIABLE=VALUE...: make every program there, or what
# REBUILD_GOAL says
#
# Nothing may come from the make that runs this test: it puts the variables of
# its own command line into the environment.
rebuild()
{
	rebuild_folder=$1
	shift
	mkdir -p "$rebuild_folder" || exit 1
	env -i PATH="$PATH" HOME="$HOME" \
		make -s -j2 BUILD="$rebuild_folder" OPT=-O1 "$@" "${REBUILD_GOAL:-programs}" \
		>"$rebuild_folder/log" 2>&1
	rebuild_status=$?
	rebuild_ok $rebuild_status "every program is built" \
		"$rebuild_folder/log"
	[ $rebuild_status -eq 0 ] || rebuild_end
}

# rebuild_unit PROGRAM [WORD...]: run one unit test, by an emulator if given
rebuild_unit()
{
	rebuild_program=$1
	shift
	CMOCKA_MESSAGE_OUTPUT=TAP "$@" "$rebuild_program" \
		>"$rebuild_program.log" 2>&1
	rebuild_status=$?
	rebuild_name="${rebuild_program#*/unit/}: $(
		grep -c '^ok' "$rebuild_program.log") tests"
	if grep -q '# SKIP' "$rebuild_program.log"; then
		rebuild_name="$rebuild_name # SKIP some of them do not run"
	fi
	rebuild_ok $rebuild_status "$rebuild_name" "$rebuild_program.log"
}

# rebuild_units FOLDER [WORD...]: run all unit tests, by an emulator if given
rebuild_units()
{
	rebuild_folder=$1
	shift
	for rebuild_source in tests/unit/*/*.c; do
		rebuild_name=${rebuild_source#tests/unit/}
		rebuild_name=${rebuild_name%.c}
		# asks the processor, or the kernel about other processes: an
		# emulator is no judge of the one and knows nothing of the other
		case $rebuild_name,$#,$(uname -m) in
		launch/watch,0,*) ;;
		isa/x64_exec,0,x86_64 | isa/x64_run,0,x86_64) ;;
		isa/x64_moved,0,x86_64) ;;
		launch/watch,* | isa/x64_exec,* | isa/x64_run,*) continue ;;
		isa/x64_moved,*) continue ;;
		esac
		rebuild_unit "$rebuild_folder/unit/$rebuild_name" "$@"
	done
}
