#!/bin/sh
# other-compiler: clang builds every program, with warnings as errors like
# gcc, and the unit tests pass in its build too. The fuzzers, which only clang
# builds, are sound C.

. tests/lib/rebuild.sh

build=${BUILD:-build}
clang=${CLANG:-clang}
command -v "$clang" >/dev/null || rebuild_skip "$clang is not installed"
# what travels in programs of the other machine is never clang's
rebuild "$build/clang" CC="$clang" OTHER_CC= OPT=-O0
"$clang" -std=gnu11 -D_GNU_SOURCE -Isrc -Itests/lib -Wall -Wextra -Wshadow \
	-Werror -fsyntax-only fuzz/*.c 2>"$build/clang/log"
rebuild_ok $? "the fuzzers are built" "$build/clang/log"
rebuild_units "$build/clang"
rebuild_end
