#!/bin/sh
# fuzz/run.sh NAME [SECONDS]: builds fuzz/NAME_fuzz.c and runs it; README.md.
# ROOMS: the rooms of src/ that it is built from.
set -eu
cd "$(dirname "$0")/.."
name=$1
seconds=${2:-600}
out=build-fuzz
corpus=$out/corpus-$name
mkdir -p "$corpus"
srcs=$(for room in ${ROOMS:-base flow elf isa cfg rewrite hooks count \
		events trace instrument launch store sample profile report export cmd}; do
	find "src/$room" -name '*.c' ! -name '*.bpf.c' ! -path src/cmd/main.c
done
echo src/runtime/places.c)
# sources NAME...: those files, wherever they are
sources() {
	for f; do find src/elf src/sample src/profile -name "$f.c"; done
}
# those that need little are built from little
case $name in
parse)
	srcs=$(echo src/base/*.c src/elf/*.c
	sources parse parser jit jitdump proc)
	;;
object)
	srcs=$(echo src/base/*.c
	sources object names lines line_rows scopes segments demangle \
		discriminator)
	;;
trace) srcs=$(echo src/base/*.c src/trace/file/*.c) ;;
esac
wraps=
[ $name != replay ] || wraps=-Wl,--wrap=decompress,--wrap=decompress_piece

clang -std=gnu11 -g -O1 -D_GNU_SOURCE -DTALLY_VERSION='"fuzz"' \
	-Isrc "-Isrc/runtime/$(uname -m)" -isystem src/sample/bpf -Itests/lib \
	-fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all $wraps \
	-o "$out/$name" "fuzz/${name}_fuzz.c" $srcs \
	-ldw -lelf -liberty -lZydis -lsqlite3 -lzstd -lbpf -lz -lpthread -lm

# seeds of databases, profiles and maps
case $name in
parse)
	mkdir -p "$out/seed-parse"
	printf '\001%s\n' '1000 20 first' '1010 8 second' > "$corpus/map"
	cc -o "$out/seed-parse/dumped" tests/progs/sample/dumped.c
	(cd "$out/seed-parse" && rm -f jit-* && ./dumped > /dev/null)
	{ printf '\002'; cat "$out"/seed-parse/jit-*.dump; } > "$corpus/dump"
	{ printf '\000'; cat "$out/seed-parse/dumped"; } > "$corpus/elf"
	exec "$out/$name" -max_total_time="$seconds" -timeout=5 \
		-rss_limit_mb=1024 -max_len=80000 -print_final_stats=1 \
		-artifact_prefix="$out/" "$corpus"
	;;
database)
	make -s build/tools/make-database
	rm -rf "$out/seed-db"
	for i in 1 2 3; do
		printf 'epoch %d000 %d900 x\nevent cycles 5 1\nimage 0 /x\n' \
			$i $i
		printf 'hit 4 9\nhit 8 3\nprocess 3 x 12\nimage 1 [kernel]\n'
		printf 'apart x\nhit 64 7\ntogether\n'
	done | build/tools/make-database "$out/seed-db"
	cp "$out"/seed-db/*.tallydb "$corpus/whole"
	printf '\001\002\004\011\004\003' > "$corpus/run"
	exec "$out/$name" -max_total_time="$seconds" -timeout=5 \
		-rss_limit_mb=2048 -max_len=80000 -print_final_stats=1 \
		-artifact_prefix="$out/" "$corpus"
	;;
trace)
	printf '\001\0' > "$corpus/part"
	printf '\002\001\0\003\0\01\04' > "$corpus/columns"
	exec "$out/$name" -max_total_time="$seconds" -timeout=5 \
		-rss_limit_mb=1024 -max_len=20000 -print_final_stats=1 \
		-artifact_prefix="$out/" "$corpus"
	;;
replay)
	make -s build/tally
	cc -O1 -o "$out/replayed" fuzz/replayed.c
	REPLAY_FUZZ_TRACE=$out/replayed.trace
	export REPLAY_FUZZ_TRACE
	# with a state at every word of bits
	TALLY_SMALL_EPOCHS=1 build/tally trace --addresses --libs none \
		-o "$REPLAY_FUZZ_TRACE" \
		-- "$out/replayed"
	exec "$out/$name" -max_total_time="$seconds" -timeout=5 \
		-rss_limit_mb=2048 -max_len=64 -len_control=0 \
		-print_final_stats=1 -artifact_prefix="$out/" "$corpus"
	;;
profile | map)
	make -s build/tools/make-profile build/tally
	for words in "" trouble contradiction "wide 9" stays left; do
		at=$out/seed-${words%% *}
		mkdir -p "$at"
		build/tools/make-profile "$at" $words inside
		if [ $name = map ]; then
			cp "$at/inside" "$corpus/inside-${words%% *}"
			continue
		fi
		cp "$at/profile" "$corpus/live-${words%% *}"
		build/tally snapshot "$at/profile" \
			-o "$corpus/finished-${words%% *}"
	done
	exec "$out/$name" -max_total_time="$seconds" -timeout=5 \
		-rss_limit_mb=2048 -max_len=200000 -print_final_stats=1 \
		-artifact_prefix="$out/" "$corpus"
	;;
esac

# seeds: small programs and libraries with exceptions, tables and relocations
cat > "$out/seed.cc" <<'END'
struct guard { ~guard(); };
extern int deep(int);
__attribute__((constructor)) static void start(void) {}
int (*const table[])(int) = {deep, deep};
int f(int n) {
	guard g;
	try { return table[n & 1](n); } catch (int e) { return e; }
}
END
seed() { # compiler, linker flags...
	command -v "$1" > /dev/null || return 0
	n=$((n + 1))
	"$@" -O2 -nostdlib -shared -fPIC -Wl,--allow-shlib-undefined \
		-z max-page-size=4096 -z noseparate-code \
		-o "$corpus/seed$n" "$source" 2> /dev/null || return 0
	cp "$corpus/seed$n" "$corpus/bare$n"
	strip --strip-section-headers "$corpus/bare$n" 2> /dev/null ||
		llvm-strip-14 --strip-sections "$corpus/bare$n" 2> /dev/null ||
		rm "$corpus/bare$n"
}
n=0
for source in "$out/seed.cc" tests/progs/hostile.cc; do
	for cc in g++ clang++ aarch64-linux-gnu-g++ x86_64-linux-gnu-g++; do
		seed $cc
		seed $cc -Wl,-q
		seed $cc -Wl,-z,pack-relative-relocs
		seed $cc -Wl,-e,0 -no-pie
	done
done
exec "$out/$name" -max_total_time="$seconds" -timeout=5 -rss_limit_mb=2048 \
	-max_len=65536 -print_final_stats=1 -artifact_prefix="$out/" "$corpus"
