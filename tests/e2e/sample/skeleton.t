#!/bin/sh
# skeleton: the program for the kernel that is kept is the one whose source is
# kept: always by the sum of that source and, where the compiler that made it is
# installed, byte by byte.

kept=src/sample/bpf/table.skel.h
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
echo 1..4

# ok NUMBER STATUS NAME
ok()
{
	[ "$2" -eq 0 ] || printf 'not '
	echo "ok $1 - $3"
}

# the sum, as the second line behind the opening one has it
want=$(find src/sample/bpf -name '*.h' ! -name '*.skel.h' -o -name '*.bpf.c' |
	sort | xargs cat | sha256sum | cut -d' ' -f1)
sed -n 1,6p $kept | grep -q "^ \*	$want\$"
ok 1 $? "what is kept was made of this source: else 'make skeletons'"
! grep -q "$PWD" $kept
ok 2 $? "it names no folder of this machine"

made_by=$(sed -n 's/^ \* with \(.*\)/\1/p' $kept)
here="$(clang -dumpversion 2>/dev/null) and $(bpftool version 2>/dev/null |
	head -1)"
if [ "$made_by" != "$here" ]; then
	echo "ok 3 # SKIP it is by $made_by, here is $here"
	echo "ok 4 # SKIP the same"
	exit 0
fi
make -s skeletons SKELETONS="$tmp" >"$tmp/log" 2>&1
ok 3 $? "it is made anew"
sed 's/^/# /' "$tmp/log"
cmp "$tmp/table.skel.h" $kept | sed 's/^/# /'
cmp -s "$tmp/table.skel.h" $kept
ok 4 $? "and is the same"
