#!/bin/bash
# live: real programs do not notice when what cfg/live/live.h calls dead is
# overwritten, in themselves and in all their libraries.
#
#	tests/sweep/live.sh [native|foreign]...
#
# native: this machine's programs under ptrace (tests/tools/spoil-dead), at
# every block and at some other instructions, HITS (20) times each, for each
# of SEEDS (1 2 3). foreign: the other machine's (Debian packages, fetched if
# need be) in qemu (tests/tools/spoil-qemu.py), PLACES (3000) each.
# ONLY=REGEX runs only programs so named.

cd "$(dirname "$0")/../.." || exit 1
. tests/lib/packages.sh
. tests/lib/spoil.sh

spoil_tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$spoil_tmp"' EXIT
export LC_ALL=C.UTF-8 PYTHONHASHSEED=0 PERL_HASH_SEED=0
spoil_limit=600
n=0 failed=0 where=native

# t NAME PROGRAM...: one program
t()
{
	name=$1
	shift
	[[ $name =~ ${ONLY:-.} ]] || return
	if [ $where = native ]; then
		command -v "$1" >/dev/null || return
		for seed in ${SEEDS:-1 2 3}; do
			spoil_native "${HITS:-20}" $seed "$@"
			result $? "$name, seed $seed" "$spoil_tmp/log"
		done
	else
		program=$(find "$root"/{,usr/}bin -name "${1##*/}" | head -1)
		[ -n "$program" ] || return
		spoil_emulated "${PLACES:-3000}" 400 1 qemu-$other_isa -L "$root" \
			"$program" "${@:2}"
		result $? "$other_isa $name" "$spoil_tmp/why"
	fi
}

# result STATUS NAME FILE: prints it, and the file's last line
result()
{
	n=$((n + 1))
	[ "$1" -eq 0 ] || failed=$((failed + 1))
	[ "$1" -eq 0 ] && printf ok || printf 'not ok'
	echo " $n - $2 ($(tail -1 "$3"))"
	[ "$1" -eq 0 ] || sed 's/^/#   /' "$spoil_tmp/why" | cut -c1-400
}

inputs()
{
	seq 3000 -1 1 >"$spoil_tmp/numbers"
	cat tests/progs/*.c >"$spoil_tmp/text"
	cpp -P tests/progs/switch.c >"$spoil_tmp/switch.i" 2>/dev/null
	gzip -c "$spoil_tmp/text" >"$spoil_tmp/text.gz"
}

programs()
{
	local in=$spoil_tmp
	t ls ls -l /usr/lib
	t sort sort -n "$in/numbers"
	t sort-R sort -R --random-source="$in/text" "$in/numbers"
	t gzip gzip -nc "$in/text"
	t gunzip gzip -dc "$in/text.gz"
	t xz xz -c "$in/text"
	t bzip2 bzip2 -c "$in/text"
	t zstd zstd -c "$in/text"
	t sha256 sha256sum "$in/text"
	t factor factor 123456789012345678901234567890 999999999999999989
	t date date -u -d '2020-02-03 04:05:06 +3 days' +%c
	t find find /etc -maxdepth 1 -name '*a*' -printf '%p %s\n'
	t tar tar cf - -C "$in" --sort=name --mtime=@0 text numbers
	t grep grep -nE '(foo|bar|in[t]+) *[a-z]+\(' "$in/text"
	t sed sed -E 's/([a-z]+) ([a-z]+)/\2 \1/g; /x/d; y/abc/xyz/; 3,5p' \
		"$in/text"
	t awk mawk '{ n += length($0); a[NR % 7] = $1; gsub(/[a-z]+/, "<&>") }
		END { for (i = 0; i < 7; i++) print a[i], sin(n + i), $0 }' \
		"$in/text"
	t bash bash -c 'x=abc; for i in 1 2 3; do y=${x/b/$i}; echo $y ${#y}
		echo $((i * i)); done; case $x in a*) echo yes ;; esac
		[[ $x =~ b. ]] && echo ${BASH_REMATCH[0]}; declare -A h; h[k]=v
		echo ${h[@]}; f() { local a=$1; echo $a; return 3; }; f q; echo $?
		trap "echo t" EXIT; read a b <<<"1 2"; echo $b; echo $(echo hi)'
	t sqlite sqlite3 :memory: 'create table t(a,b); with recursive c(x) as
		(select 1 union all select x+1 from c where x<200) insert into
		t select x, x*x%37 from c; select b,count(*),avg(a),
		group_concat(a) from t group by b order by 2,1; create index i
		on t(b); select printf("%.3f",a/7.0) from t where b=7;'
	t perl perl -e 'my %h; $h{$_ % 7} .= chr 65 + $_ % 26 for 1 .. 300;
		print "$_ $h{$_}\n" for sort keys %h; my $s = "the quick brown";
		$s =~ s/(\w+)/\u$1/g; print "$s\n"; printf "%.5f %x\n", sqrt 2,
		255; eval { die "x\n" }; print $@, map { $_ * 7 % 31 } 1 .. 9'
	t lua lua5.4 -e 'local t = {} for i = 1, 200 do t[i] = i * 7919 % 101
		end table.sort(t) print(table.concat(t, ","), ("abc"):rep(3),
		string.format("%.3f %x", math.pi, 255), pcall(error, "x"))
		local c = coroutine.wrap(function() coroutine.yield(4) end)
		print(c(), ("hello"):gsub("l+", "L"))'
	t python /usr/bin/python3.11 -ISc 'class A:
  def __init__(s, x): s.x = x
  def __lt__(s, o): return s.x < o.x
l = [A(i * 7919 % 101) for i in range(200)]; l.sort()
print([a.x for a in l][:20], 2 ** 200, 10 ** 50 // 7, 3.5 ** 1.5)
def g(n):
  for i in range(n):
    try:
      if i % 3 == 0: raise ValueError(i)
      yield i
    except ValueError as e: yield str(e)
print(list(g(20)), "abc".upper().split("B"), f"{3.14159:.2f}", {1, 2} & {2})'
	t openssl openssl enc -aes-256-cbc -pbkdf2 -k x -S 0102030405060708 \
		-in "$in/text"
	t openssl-prime openssl prime -hex $(printf 'F%.0s' {1..80})C5
	t dgst openssl dgst -sha3-512 "$in/text"
	HITS=2 t cc1 /usr/lib/gcc/x86_64-linux-gnu/12/cc1 -quiet -O2 -o - \
		"$in/switch.i"
	t objdump objdump -d /bin/true
	HITS=2 t gdb gdb -nx -batch -ex 'print 6 * 7' -ex 'info line main'
	t git git --no-pager diff --no-index --stat "$in/text" "$in/numbers"
	t jq jq -n '[range(50)] | map(. * 7 % 11) | sort | group_by(.)'
	t xmllint xmllint --noout --html /dev/null
	t busybox busybox md5sum "$in/text"
}

[ $# -gt 0 ] || set -- native foreign
inputs
for where; do
	if [ "$where" = foreign ]; then
		packages_fetch $other_arch bash coreutils gzip xz-utils grep sed \
			mawk tar findutils libc6 libgcc-s1 libstdc++6 zlib1g \
			liblzma5 libtinfo6 libselinux1 libpcre2-8-0 libacl1 \
			libattr1 sqlite3 libsqlite3-0 libreadline8 lua5.4 \
			perl-base libcrypt1 libgmp10 openssl libssl3 \
			busybox-static || echo "# some packages are missing"
		root=$(packages_root $other_arch)
	fi
	programs
done
echo "1..$n"
echo "# $((n - failed)) passed, $failed failed"
[ $failed -eq 0 ]
