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
make CC="$clang" fuzz-syntax >"$build/clang/log" 2>&1
rebuild_ok $? "the fuzzers are sound" "$build/clang/log"
rebuild_units "$build/clang"
rebuild_end
