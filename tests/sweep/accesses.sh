#!/bin/sh
# accesses: where instructions access memory, and how much decode() says, on
# every program and library for both machines below the given places (default:
# where systems install them, and cross compilers' libraries).
#
#	JOBS     files at once (2)
#	BUILD    where the tools are built (build)

tools=${BUILD:-$(dirname "$0")/../../build}/tools
[ $# -gt 0 ] || set -- /usr /lib /opt

work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
tab=$(printf '\t')
find "$@" -type f -size +1k 2>/dev/null >"$work/all"
for machine in 62 183; do
	"$tools/list-elf" $machine <"$work/all"
done | sort -u -t "$tab" -k 2,2 | cut -f 3 >"$work/files"

tr '\n' '\0' <"$work/files" |
	xargs -0 -n 1 -P "${JOBS:-2}" "$tools/check-accesses" >"$work/out"
awk -v listed="$(wc -l <"$work/files")" '
	$1 == "total" {
		files += $2
		insns += $3
		for (i = 5; i <= NF; i++) {
			split($i, count, "=")
			sum[count[1]] += count[2]
		}
		next
	}
	{ print "# " $0; bad++ }
	END {
		printf "# %d of %d files, %d instructions:", files, listed,
			insns
		for (how in sum)
			printf " %d %s", sum[how], how
		print "\n1..1"
		ok = files > listed * .99 && insns && !bad
		print (ok ? "ok" : "not ok") \
			" 1 - accesses are as many bytes as decode() says"
		exit !ok
	}' "$work/out"
