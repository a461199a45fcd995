# spoil.sh: programs whose dead registers and flags are overwritten.
#
# Source this file from a test script in the top folder, with a scratch folder
# in $spoil_tmp; files must not change under their name. Every function leaves what is wrong, if
# something is, in $spoil_tmp/why.

spoil_tools=$(realpath "${BUILD:-build}")/tools

# spoil_places SEED PROGRAM...: a list of what is dead in the program's files;
# one file's is made once
spoil_places()
{
	spoil_seed=$1
	shift
	"$spoil_tools/trace-jumps" --images "$@" </dev/null 2>/dev/null |
		sort -u >"$spoil_tmp/images"
	while read -r spoil_image; do
		spoil_list=$spoil_tmp/$spoil_seed$(echo "$spoil_image" |
			tr / _).list
		[ -e "$spoil_list" ] ||
			"$spoil_tools/list-dead" -s "$spoil_seed" \
				"$spoil_image" >"$spoil_list"
		cat "$spoil_list"
	done <"$spoil_tmp/images" >"$spoil_tmp/places"
}

# spoil_native HITS SEED PROGRAM...: is it the same with dead ones spoiled?
#
# Input comes from $spoil_in, if that is set. At least $spoil_least places
# (500) must have been reached, or nothing was tried, and it must end within
# $spoil_limit seconds (900: only what hangs takes so long).
spoil_native()
{
	spoil_hits=$1 spoil_seed=$2
	shift 2
	"$@" <"${spoil_in:-/dev/null}" >"$spoil_tmp/want" 2>&1
	spoil_status=$?
	spoil_places "$spoil_seed" "$@"
	timeout "${spoil_limit:-900}" "$spoil_tools/spoil-dead" -n "$spoil_hits" \
		-s "$spoil_seed" -o "$spoil_tmp/log" "$spoil_tmp/places" \
		"$@" <"${spoil_in:-/dev/null}" >"$spoil_tmp/got" 2>&1
	spoil_got=$?
	{
		cat "$spoil_tmp/log"
		echo "status $spoil_got, not $spoil_status"
		diff -a "$spoil_tmp/want" "$spoil_tmp/got" | head
	} >"$spoil_tmp/why"
	[ $spoil_got -eq $spoil_status ] &&
		cmp -s "$spoil_tmp/want" "$spoil_tmp/got" &&
		[ "$(cut -d' ' -f1 "$spoil_tmp/log")" -ge \
			"${spoil_least:-500}" ]
}

# spoil_emulated PLACES BATCH SEED QEMU...: the same in an emulator
spoil_emulated()
{
	spoil_n=$1 spoil_batch=$2 spoil_seed=$3
	shift 3
	python3 tests/tools/spoil-qemu.py -n "$spoil_n" -b "$spoil_batch" \
		-s "$spoil_seed" "$spoil_tools/list-dead" "$@" \
		>"$spoil_tmp/why" 2>&1
}
