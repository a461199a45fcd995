#!/bin/sh
# a64-lift: the lifter's micro-operations against the machine itself, or
# against qemu where there is no such machine. Each seed is one test of some
# thousand random instructions; see tests/tools/lift-a64.c.

here=$(cd "$(dirname "$0")" && pwd)
lift=${BUILD:-build}/tools/lift-a64
TRIALS=${TRIALS:-20000}
seeds="1 2 3"

if [ "$(uname -m)" = aarch64 ]; then
	compiler=${CC:-cc}
	run=
else
	compiler=aarch64-linux-gnu-gcc
	run="qemu-aarch64 -cpu max"
fi
for tool in $compiler $run; do
	case $tool in
	-cpu) break ;;
	esac
	if ! command -v "$tool" >/dev/null; then
		echo "1..0 # SKIP $tool is not installed"
		exit 0
	fi
done

tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
echo "1..$(echo $seeds | wc -w)"
$compiler -O1 -static -I"$here/../../lib" -o "$tmp/run" \
	"$here/a64-run.c" || exit 1
number=0
for seed in $seeds; do
	number=$((number + 1))
	"$lift" make "$seed" "$TRIALS" >"$tmp/trials"
	$run "$tmp/run" <"$tmp/trials" >"$tmp/results"
	if "$lift" check "$seed" "$TRIALS" <"$tmp/results"; then
		echo "ok $number - $TRIALS instructions, seed $seed"
	else
		echo "not ok $number - $TRIALS instructions, seed $seed"
	fi
done
