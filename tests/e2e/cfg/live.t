#!/bin/bash
# live: programs do not notice when everything that cfg/live/live.h calls dead is
# overwritten: of this machine under ptrace, of the other one in qemu. The
# samples keep values where the convention promises nothing.
# tests/sweep/live.sh does the same to many more programs.

. tests/lib/rebuild.sh
. tests/lib/spoil.sh

case $(uname -m) in
aarch64) other=x86_64 ;;
*) other=aarch64 ;;
esac
cross=$other-linux-gnu
spoil_tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$spoil_tmp"' EXIT

# build NAME COMPILER FLAGS...: the sample as a program
build()
{
	name=$1
	shift
	"$@" -w -o "$spoil_tmp/$name" tests/progs/keep.c
}

# build_library NAME COMPILER FLAGS...: the sample as library and program;
# thread's variables are then found by descriptor or function
build_library()
{
	name=$1
	shift
	echo 'int sample(void); int main(void) { return sample(); }' \
		>"$spoil_tmp/main.c"
	"$@" -w -fPIC -shared -Dmain=sample -o "$spoil_tmp/lib$name.so" \
		tests/progs/keep.c &&
		"$1" -o "$spoil_tmp/$name" "$spoil_tmp/main.c" \
			"$spoil_tmp/lib$name.so" -Wl,-rpath,"$spoil_tmp"
}

# native NAME BUILD COMPILER FLAGS...: a sample of this machine
native()
{
	what=$1
	sample=sample$rebuild_number
	shift
	"$1" $sample "${@:2}" &&
		(cd "$spoil_tmp" &&
			spoil_least=100 spoil_native 40 1 "$spoil_tmp/$sample")
	rebuild_ok $? "$what" "$spoil_tmp/why"
}

# emulated NAME BUILD COMPILER FLAGS...: a sample of the other machine
emulated()
{
	what=$1
	sample=sample$rebuild_number
	shift
	"$1" $sample "${@:2}" &&
		spoil_emulated 400 400 1 qemu-$other -L /usr/$cross \
			"$spoil_tmp/$sample"
	rebuild_ok $? "$other: $what" "$spoil_tmp/why"
}

# system NAME PROGRAM...: a program that is there
system()
{
	what=$1
	shift
	spoil_native 3 1 "$@"
	rebuild_ok $? "$what" "$spoil_tmp/why"
}

# the sample is worth something only if gcc does keep values so
for cc in gcc $cross-gcc; do
	for ra in ipa-ra no-ipa-ra; do
		$cc -O2 -w -f$ra -S -o "$spoil_tmp/$ra" tests/progs/keep.c
	done
	! cmp -s "$spoil_tmp/ipa-ra" "$spoil_tmp/no-ipa-ra"
	rebuild_ok $? "$cc keeps values across calls"
done
native 'gcc -O2' build gcc -O2
native 'gcc -O3, static' build gcc -O3 -static
native 'gcc -Os as C++' build g++ -x c++ -Os
native 'gcc -pg' build gcc -O2 -pg
native 'gcc, a library' build_library gcc -O2
[ "$other" = x86_64 ] ||
	native 'gcc, TLS descriptors' build_library gcc -O2 -mtls-dialect=gnu2
native 'clang -O2' build clang -O2
emulated 'gcc -O2, static' build $cross-gcc -O2 -static
emulated 'gcc -O2 as C++' build $cross-g++ -x c++ -O2
emulated 'gcc, a library' build_library $cross-gcc -O2
seq 3000 -1 1 >"$spoil_tmp/numbers"
system ls ls -l /usr/lib
system sort sort -n "$spoil_tmp/numbers"
system gzip gzip -c "$spoil_tmp/numbers"
system bash bash -c 'for i in a b; do x[1]=$i$((3 * 4)); echo ${x[@]/a/c}; done
	[[ $x =~ . ]]; printf "%05d\n" 42; (exit 3); echo $?; echo $(echo hi)'
rebuild_end
