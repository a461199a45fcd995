#!/bin/bash
# soundness: what `tally cfg` says of indirect jumps, edges and entries,
# against real executions of real programs, on both machines.
#
#	tests/sweep/soundness.sh [native|native-emulated|foreign]...
#
# native: this machine's programs under ptrace (tests/tools/trace-jumps):
# every dispatch's targets; and single steps through small programs: every
# transfer of control. native-emulated and foreign: programs of this machine
# and of the other one (Debian packages, fetched if need be) in qemu with a
# plugin (tests/lib/qemu-flow.c): every transfer of control. Any dispatch,
# edge or entry that an execution used and tally does not list is a violation
# and fails (tests/tools/judge-flow.c says what is checked).
#
# KEEP=DIR keeps traces and graphs; with AGAIN=yes as well, traces that are
# there already are judged again and not made anew. ONLY=REGEX runs only programs so named;
# DISPATCHES=N: how many different ones must run per set (2000).

here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../.." && pwd)
build=${BUILD:-build}
tally=$build/tally
judge=$build/tools/judge-flow
tracer=$build/tools/trace-jumps
wanted=${DISPATCHES:-2000}
limit=600		# seconds for one program
packages="
bash coreutils findutils gawk grep gzip bzip2 mawk sed tar xz-utils zstd
libc6 libgcc-s1 libstdc++6 libgfortran5 zlib1g libbz2-1.0 liblzma5 libzstd1
libgmp10 libsqlite3-0 sqlite3 lua5.4 liblua5.4-0 perl-base perl
perl-modules-5.36 libperl5.36 python3.11-minimal libpython3.11-minimal
libpython3.11-stdlib openssl libssl3 git gdb cpp-12 g++-12 gfortran-12
libselinux1 libpcre2-8-0 libtinfo6 libreadline8 libsigsegv2 libmpfr6 libacl1
libattr1 libcap2 libisl23 libmpc3 libexpat1 libffi8 libcrypt1 libdebuginfod1
libelf1 libdw1 libbabeltrace1 libsource-highlight4v5 libncursesw6
libboost-regex1.74.0 libxxhash0 libxml2 libxml2-utils libicu72 jq libjq1
libonig5 file libmagic1 libmagic-mgc vim-tiny clang-14 libclang-cpp14 libllvm14
libz3-4 libedit2 libbsd0 libmd0 ripgrep bc m4 make patch diffutils dash
busybox-static mksh tcl8.6 libtcl8.6 libuuid1 libglib2.0-0 zip unzip groff-base
libpython3.11 libcurl3-gnutls libnghttp2-14 librtmp1 libssh2-1 libpsl5
libldap-2.5-0 libsasl2-2 libgssapi-krb5-2 libkrb5-3 libk5crypto3 libcom-err2
libkrb5support0 libbrotli1 libkeyutils1 libhogweed6 libnettle8 libgnutls30
libctf0 libctf-nobfd0 libbinutils binutils-aarch64-linux-gnu libidn2-0
libunistring2 libp11-kit0 libtasn1-6
"

. "$here/../lib/packages.sh"

tmp=${KEEP:-$(mktemp -d)}
mkdir -p "$tmp" || exit 1
[ -n "$KEEP" ] || trap 'rm -rf "$tmp"' EXIT

# --- inputs ---

# make_inputs: what the programs work on, in $in
make_inputs()
{
	in=$tmp/in
	mkdir -p "$in/tree/a/b" || return 1
	for f in cfg/table isa/a64/decode flow/place cmd/cfg_text \
		cfg/dispatch; do
		[ -e "$top/src/$f.c" ] || continue
		cc -std=gnu11 -D_GNU_SOURCE -I"$top/src" -E -P \
			-o "$in/${f//\//-}.i" "$top/src/$f.c"
	done
	cat "$top"/src/cfg/*.c >"$in/text"
	seq 1 3000 | awk '{ print ($1 * 7919) % 1009, $1, "word" $1 % 17 }' \
		>"$in/rows"
	cp "$in/text" "$in/rows" "$in/tree/a/b"
	cat >"$in/t.cc" <<-'CC'
	#include <map>
	#include <string>
	#include <vector>
	#include <algorithm>
	#include <functional>
	#include <memory>
	struct shape { virtual double area() const = 0; virtual ~shape() {} };
	struct box : shape { double a, b; box(double x, double y) : a(x), b(y) {}
		double area() const override { return a * b; } };
	template <class T> struct list { T head; std::unique_ptr<list> tail; };
	int main(int argc, char **argv) {
		std::map<std::string, std::vector<int>> m;
		std::vector<std::unique_ptr<shape>> s;
		for (int i = 0; i < argc; i++) {
			m[argv[i]].push_back(i);
			s.emplace_back(new box(i, 2.5));
		}
		try {
			std::function<int(int)> f = [&](int x) {
				if (x > 100) throw std::string("big");
				switch (x) { case 0: return 3; case 1: return 9;
				case 2: return 27; case 3: return 1; default:
				return x * x; } };
			std::sort(m["a"].begin(), m["a"].end(),
				[](int x, int y) { return x > y; });
			return f(argc) + (int)s[0]->area();
		} catch (const std::string &e) { return (int)e.size(); }
	}
	CC
	cpp "$in/t.cc" -P -x c++ -o "$in/t.ii" 2>/dev/null ||
		g++ -E -P "$in/t.cc" -o "$in/t.ii"
	cat >"$in/t.f90" <<-'F90'
	program t
	  implicit none
	  integer, parameter :: n = 40
	  real(8) :: a(n, n), b(n, n), c(n, n), s
	  integer :: i, j
	  character(len=20) :: w
	  type point
	    real :: x, y
	  end type
	  type(point), allocatable :: p(:)
	  do i = 1, n
	    do j = 1, n
	      a(i, j) = sin(real(i * j, 8)); b(i, j) = 1.0d0 / (i + j)
	    end do
	  end do
	  c = matmul(a, transpose(b))
	  where (c > 0) c = sqrt(c)
	  s = sum(c, mask=c < 5)
	  allocate (p(n))
	  p%x = 1.0; p%y = [(real(i), i=1, n)]
	  select case (int(s))
	  case (:0); w = 'negative'
	  case (1:10); w = 'small'
	  case (11:100); w = 'middle'
	  case default; w = 'large'
	  end select
	  write (*, '(a,f12.4,3i5,e12.3)') trim(w), s, 1, 2, 3, maxval(p%y)
	  print *, s, w, p(1), .true., (1.0, 2.0)
	contains
	  recursive integer function fact(k) result(r)
	    integer, intent(in) :: k
	    r = 1; if (k > 1) r = k * fact(k - 1)
	  end function
	end program
	F90
	cat >"$in/t.py" <<-'PY'
	import re, json, collections, functools, itertools, struct, string
	class A:
	    __slots__ = ('x', 'y')
	    def __init__(self, x, y=2, *a, k=3, **kw): self.x, self.y = x, y
	    def __add__(self, o): return A(self.x + o.x, self.y + o.y)
	    def __enter__(self): return self
	    def __exit__(self, *e): return True
	    def __getitem__(self, i): return (self.x, self.y)[i]
	    @property
	    def p(self): return self.x
	    @classmethod
	    def c(cls): return cls(1)
	def gen(n):
	    try:
	        for i in range(n):
	            got = yield i
	            if got: yield from (got, got)
	    finally: pass
	async def co(n): return n + 1
	async def co2():
	    a = [await co(i) async for i in agen()]
	    return sum(a)
	async def agen():
	    for i in range(5): yield i
	def match(v):
	    match v:
	        case [1, 2, *r]: return r
	        case {'a': x, **k}: return x, k
	        case A(x=1, y=z): return z
	        case str() | bytes(): return 's'
	        case None: return 0
	        case _: return v
	try:
	    c = co2(); c.send(None)
	except StopIteration as e: print(e.value)
	g = gen(3); print(next(g), g.send(7), list(g))
	with A(1) as a, A(2) as b: raise ValueError(a + b)
	print(match([1, 2, 3]), match({'a': 1, 'b': 2}), match(A(1)), match('x'),
	      match(None), match(2.5))
	print({k: v for k, v in zip('abc', range(3))}, {*range(4)}, [*'ab', 1])
	x = 5; x += 1; x -= 2; x *= 3; x //= 2; x **= 2; x %= 7; x <<= 3; x >>= 1
	x |= 8; x &= 12; x ^= 5; print(x, ~x, -x, +x, not x, x @ 1 if 0 else 1.5 / x)
	print(f"{x!r:>10} {x:08.3f} {x:,} {x:#x}", "%5.2f|%-8s|%c|%e" % (1.5, 's', 'c', 2.))
	print(re.findall(r'(\w+)@(?:\d{1,3}|[a-z]+)\b(?=,)|x*?y', 'ab@12, cd@xy, xxy, é'))
	print(re.sub(r'(?i)(?P<n>[a-f]+)(?P=n)?', lambda m: m[0].upper(), 'abab cafe zz'))
	print(json.loads(json.dumps({'a': [1, 2.5, None, True, 'é\n\\u1234'], 'b': {}})))
	print(struct.unpack('<bBhHiIqQfd', struct.pack('<bBhHiIqQfd', *range(10))))
	print(collections.Counter('mississippi').most_common(2),
	      functools.reduce(lambda a, b: a * b, range(1, 30)), 10 ** 50 // 3 ** 20,
	      sorted('Hello', key=str.lower), list(itertools.groupby('aab')).__len__(),
	      max(1, 2.5, True), divmod(-7, 3), 7 // -2, pow(3, 100, 7), complex(1, 2) ** 2,
	      'abc'.encode('utf-16'), b'\xff\xfe'.decode('latin-1'), bytearray(b'x') * 3,
	      [i for i in range(20) if i % 3 if i % 2], any(i > 3 for i in (1, 5)),
	      "ß".upper(), 'a,b,,c'.split(','), ' x '.strip(), slice(1, 2), ..., round(2.567, 2))
	def deep(n): return deep(n - 1) if n else 0
	try: deep(10 ** 5)
	except RecursionError as e: print('deep')
	for i in range(3):
	    try:
	        if i == 1: continue
	        if i == 2: break
	        [][1]
	    except (IndexError, KeyError) as e: print(repr(e))
	    else: pass
	    finally: del i if False else a
	assert x is not None and x in {x} and x != 3 or x < 4 <= 9
	global_ = 3
	def outer():
	    v = 1
	    def inner():
	        nonlocal v; global global_
	        v += 1; global_ = v
	        return lambda: v
	    return inner()()
	print(outer(), global_, eval('1+2'), compile('a: int = 1', 's', 'exec').co_code[:4])
	exec('import os.path as q; from os import *')
	PY
	sed -i 's/    finally: del i if False else a/    finally: pass/' "$in/t.py"
	cat >"$in/t.pl" <<-'PL'
	use strict; my (%h, @a); my $s = "The quick brown fox 123 jumps";
	for my $i (1 .. 2000) { $h{$i % 37} .= chr(65 + $i % 26); push @a, $i * 7 % 101; }
	print join(",", sort { $a <=> $b || $b cmp $a } @a[0 .. 20]), "\n";
	print "$1-$2\n" while $s =~ /(\w)(?:\w*?)(\w)\b/g;
	(my $t = $s) =~ tr/a-z/A-Z/; $t =~ s/([A-Z]+)/lc($1)/ge; print "$t\n";
	print "m\n" if $s =~ /^(?=.*fox)(?!.*dog)[^\d]+(?<n>\d+)\s+(?i:JUMPS)$/x;
	printf "%s %5.2f %03d %x %o %e %b %s\n", "x", 3.14159, 7, 255, 8, 1e10, 5, "a" x 3;
	print pack("NnCa4w", 1, 2, 3, "abcd", 300) eq unpack("a*", pack("NnCa4w", 1, 2, 3, "abcd", 300)), "\n";
	my @s = map { { n => $_, l => length $_ } } grep { /o/ } split / /, $s;
	print ucfirst(lc $_->{n}), $_->{l}, "\n" foreach @s; local $_ = "abc"; print reverse(split //), "\n";
	eval { die { code => 5 } }; print $@->{code}, "\n"; my $f = sub { my $n = shift; $n < 2 ? $n : __SUB__($n) } if 0;
	sub fib { my $n = shift; $n < 2 ? $n : fib($n - 1) + fib($n - 2) } print fib(14), "\n";
	print sprintf("%vd", "1.22.333"), " ", substr($s, 4, 5), " ", index($s, "fox"), " ", sqrt(2) ** 3 % 5, "\n";
	my ($x, $y) = (5, 3); print $x <=> $y, $x . $y, $x ** $y, $x % $y, $x << $y, $x & $y, $x | $y, $x ^ $y, ~$x & 255, !$x, -$x, "\n";
	print wantarray() // "undef", defined $h{99} ? 1 : 0, exists $h{1} ? 1 : 0, scalar(keys %h), "\n"; delete $h{1};
	my @b = splice(@a, 1, 3, 9, 9); unshift @b, shift @a; pop @b; print "@b[0..1] $#a\n"; print lc(uc "é"), ord("a"), chr(98), hex("ff"), oct("0x1f"), abs(-3), int(3.7), "\n";
	open my $fh, "<", $0; while (<$fh>) { next unless /my/ .. /print/; chomp; last if $. > 5; } close $fh; print "done ", join("|", caller(0)) || "", "\n";
	format STDOUT =
	@<<<<< @>>>>> @||||| @##.##
	"ab", "cd", "ef", 3.14159
	.
	write; print "é" =~ /\p{L}/ ? 1 : 0, "aaa" =~ /^(a{1,2}?)(a*+)$/ ? "$1$2" : 0, "\n";
	PL
	cat >"$in/t.awk" <<-'AWK'
	{ c[$3]++; s += $1 * $2 % 7; t = t substr($3, 1, 2) }
	/9$/ && !/^1/ { n++ } $1 ~ /^[2-4]+/ { gsub(/o/, "0", $3); l = length($0) }
	NR % 2 { next } { x = sprintf("%5d|%-6s|%c|%e", $1, $3, 65, $2 / 3) }
	function f(a, b) { return a < 2 ? b : f(a - 1, b * a % 10007) }
	END { for (k in c) m = m > c[k] ? m : c[k]; split(t, q, "w"); i = 10
		while (i-- > 0) { if (i == 3) continue; if (i == 1) break; y += i ^ 2 }
		do y -= 1; while (y > 100); delete c["word1"]; print s, n, l, m, x, y
		print f(20, 1), index("hello", "l"), match("foobar", /o+/), RSTART
		print toupper("abc") tolower("ABC"), int(3.9), sqrt(2), exp(1), log(10)
		print (1 < 2) (2 == 2) ("a" < "b") !1, -3 % 2, 1 - -1, ("x" in c) ? 1 : 0
		printf "%s %d %i %o %x %g\n", "s", 1.9, 2, 8, 255, 0.1 | "cat >/dev/null" }
	AWK
	cat >"$in/t.sql" <<-'SQL'
	create table t(a integer primary key, b text, c real); create index i on t(b, c);
	with recursive n(x) as (select 1 union all select x + 1 from n where x < 800)
	insert into t select x, 'word' || (x * 7919 % 101), x * 1.5 from n;
	select b, count(*), sum(c), avg(c), group_concat(a) from t group by b having count(*) > 7 order by 2 desc, b limit 5;
	select t.a, u.c from t join t u on t.a = u.a + 1 left join t v on v.b = t.b where t.b like 'word1%' and u.c between 10 and 500 limit 9;
	select a, row_number() over (partition by b order by c), lag(c) over (order by a) from t limit 5;
	update t set c = c * 2, b = upper(b) where a % 3 = 0; delete from t where a in (select a from t where c > 2000);
	select substr(b, 2, 3), round(c, 1), typeof(c), abs(-a), coalesce(null, b), case when a > 5 then 'x' else 'y' end, hex(b), printf('%05d|%-5s|%.2f', a, b, c) from t limit 3;
	begin; create view w as select distinct b from t; create trigger g after insert on t begin update t set c = 0 where a = new.a; end; insert into t values (10000, 'q', 1); rollback;
	select * from (select a from t union select 5 except select 6 intersect select 7); select json_extract('{"a":[1,2,{"b":3}]}', '$.a[2].b'), json_group_array(a) from t where a < 5;
	select strftime('%Y-%m-%d', 1e9, 'unixepoch'), date('2020-02-30', '+1 month'), random() is not null, glob('a*', 'abc'), instr('abc', 'c'), replace('aXb', 'X', '-'), trim('  x '), quote(x'00ff'), 1 << 4 | 3 & ~1, 7 % 3, 1.0 / 3, not 1, 2 is null, cast('12' as int);
	create virtual table f using fts5(x); insert into f values ('the quick brown fox'), ('lazy dog'); select * from f where f match 'qui* OR dog'; pragma integrity_check; explain select * from t where b = 'x' order by c; vacuum; .schema
	SQL
	cat >"$in/t.sh" <<-'SH'
	f() { local i=0 IFS=,; while ((i++ < 20)); do [[ $i == [1-5]* && ! $i -gt 12 ]] && continue; a[i]=$((i * i % 7 ** 2)); done; echo "${a[*]}"; }
	f; x=hello.world.tar.gz; echo ${x%.*} ${x%%.*} ${x#*.} ${x##*.} ${x/o/0} ${x//l/L} ${x:2:4} ${#x} ${x^^} ${x,,} ${y:-d} ${y:=e} ${!x*} ${x@Q}
	case $x in *.zip) echo z;; h*llo*) echo h;;& *gz) echo g;; esac; for i in {1..5} {a..e..2}; do printf '%s|%5d|%x|%q\n' $i 7 255 "a b"; done
	declare -A m=([a]=1 [b]=2); for k in "${!m[@]}"; do echo $k ${m[$k]}; done; read -r p q <<< "one two three"; echo "$q" $'\t\x41' "$(echo sub $((3 > 2 ? 4 : 5)))" `echo old`
	[[ abc123 =~ ^([a-z]+)([0-9]+)$ ]] && echo ${BASH_REMATCH[@]}; ( exit 3 ) || echo $?; set -- -a -b v rest; while getopts ab: o; do echo $o $OPTARG; done; shift $((OPTIND - 1)); echo $1
	select_() { select z in a b; do echo $z; break; done <<< 1; }; select_ 2>/dev/null; trap 'echo exit' EXIT; until ! false; do :; done; if test -d / -a ! -f /x; then echo d; elif [ 1 -lt 2 ]; then :; else :; fi
	n=100; for ((i = 0; i < n; i++)); do s+=$i; ((i % 3 == 0 || i & 1)) && let t+=i; done; echo ${#s} $t; mapfile -t l <<< $'a\nb'; echo ${l[1]}; eval 'echo ev'; type f >/dev/null; alias; shopt -s extglob; echo ${x//+(l|o)/_}; printf -v w '%(%Y)T' 0; echo $w
	{ echo g1; echo g2; } | while read -r v; do echo "<$v>"; done; cat_() { while IFS= read -r r; do echo "$r"; done; }; cat_ <<-E
	    here $x $((1+2))
	E
	time : 2>/dev/null; wait; jobs; umask; ulimit -n >/dev/null; hash -r; dirs; help : >/dev/null; history | : ; complete -W "a b" c; compgen -A builtin >/dev/null; unset m[a]; readonly r=1; export E=2; printf '%s\n' ~ * | : ; echo $LINENO $RANDOM >/dev/null; return 0 2>/dev/null
	SH
	cat >"$in/t.lua" <<-'LUA'
	local t, s = {}, 0
	for i = 1, 500 do t[#t + 1] = (i * 7919) % 101 end
	table.sort(t, function(a, b) return a > b end)
	for k, v in pairs(t) do s = s + k * v // 3 % 5 - (v ~ 3) & 0xff | 1 << 2 end
	local mt = setmetatable({}, {__index = function(_, k) return k .. "!" end, __call = function(_, ...) return select("#", ...) end, __add = function() return 9 end})
	print(s, mt.x, mt(1, 2, 3), mt + 1, ("x"):rep(3), ("abc"):gsub("%w", "%0%0"), string.format("%5.2f|%d|%q|%x", 1.5, 3, "a\n", 255))
	local co = coroutine.wrap(function(a) for i = 1, 3 do a = coroutine.yield(a + i) end end) print(co(1), co(2))
	print(pcall(error, {1}), tostring(nil), #"abc", not nil, -s, ~5, 2 ^ 10, 7 // 2.0, "a" < "b", 1 <= 2.5, 10 == 10.0, math.type(3), string.pack("<i4z", 7, "s"):byte(1, -1))
	goto done do local x <const> = 5 end ::done:: repeat s = s - 1000 until s < 0 while s < 0 do s = s + 999; if s > 100 then break end end
	for w in ("one two"):gmatch("%a+") do io.write(w, ";") end print(table.concat({1, 2, 3}, ","), table.unpack({1, 2}), os.time{year=2020, month=1, day=1} > 0, load("return 1 + ...")(4), utf8.char(233), next({}), rawequal(t, t), rawlen(t), string.find("a.b", ".", 1, true))
	LUA
	printf '<r a="1"><b>t&amp;x</b><!-- c --><c><![CDATA[z]]></c><d x:y="2" xmlns:x="u"/></r>' >"$in/t.xml"
	printf '{"a":[1,2,{"b":null,"c":"x\\u00e9"}],"d":1.5e3,"e":true}' >"$in/t.json"
	(cd "$in" && rm -rf repo && git init -q repo && cd repo &&
		cp ../rows ../text . && git add . &&
		git -c user.name=t -c user.email=t@t commit -qm one &&
		sed -i '1,40d;100,120s/word/WORD/' rows && git add . &&
		git -c user.name=t -c user.email=t@t commit -qm two)
	cp "$in/text" "$in/t.txt"
	gzip -kf "$in/t.txt"; bzip2 -kf "$in/t.txt"; xz -kf "$in/t.txt"
	tar cf "$in/t.tar" -C "$in" tree
	cat >"$in/t.rs" <<-'RS'
	use std::collections::HashMap;
	#[derive(Debug, Clone)] enum E { A(i32), B { s: String }, C }
	trait T { fn f(&self) -> usize; }
	impl T for E { fn f(&self) -> usize { match self { E::A(n) => *n as usize, E::B { s } => s.len(), E::C => 0 } } }
	fn main() {
		let mut m: HashMap<String, Vec<E>> = HashMap::new();
		for (i, w) in "a b c a".split(' ').enumerate() {
			m.entry(w.to_string()).or_default().push(if i % 2 == 0 { E::A(i as i32) } else { E::B { s: w.into() } });
		}
		let v: Vec<Box<dyn T>> = vec![Box::new(E::C), Box::new(E::A(4))];
		println!("{:?} {}", m, v.iter().map(|x| x.f()).sum::<usize>());
	}
	RS
}

# --- programs ---

# the programs of a set: root (of packages, or empty) and how to run them
root=
set_name=
mode=

# program NAME [PATH...]: print where it is in the root; fail if nowhere
program()
{
	local p
	for p in "$@"; do
		for p in "$root"/usr/bin/$p "$root"/bin/$p \
			"$root"/usr/sbin/$p "$root"/$p; do
			[ -x "$p" ] && [ ! -d "$p" ] &&
				{ realpath "$p"; return 0; }
		done
	done
	return 1
}

# observe OUT COMMAND...: run with what the set observes; trace to OUT
observe()
{
	local out=$1 status
	shift
	case $mode in
	ptrace)
		"$tracer" --images "$@" </dev/null >"$out.images" 2>/dev/null
		make_graphs <"$out.images"
		while read -r image; do
			cat "$(graph_of "$image").list"
		done <"$out.images" >"$out.list"
		timeout $limit "$tracer" -n 30 -o "$out" "$out.list" "$@" ;;
	step)
		timeout $limit "$tracer" --step -m 600000 -o "$out" "$@" ;;
	qemu)
		timeout $limit "$emulator" ${root:+-L "$root"} \
			-plugin "$tmp/qemu-flow.so,out=$out" "$@"
		status=$?
		cat "$out".[0-9]* >"$out" 2>/dev/null
		rm -f "$out".[0-9]*
		return $status ;;
	esac
}

# w NAME INPUT PROGRAMS ARG...: observe a program if there is one; PROGRAMS:
# names, of which the first that exists is taken
w()
{
	local name=$1 input=$2 p
	[[ $name =~ ${ONLY:-.} ]] || return
	[ -n "$AGAIN" ] && [ -s "$traces/$name" ] && return
	p=$(program $3) || { echo "# $set_name: no $name"; return; }
	shift 3
	local t0=$SECONDS
	(cd "$tmp/run" && observe "$traces/$name" "$p" "$@") <"$input" \
		>"$traces.logs/$name" 2>&1
	local status=$?
	[ -s "$traces/$name" ] || rm -f "$traces/$name"
	rm -f "$traces/$name.list" "$traces/$name.images"
	echo "# $set_name: $name: status $status, $((SECONDS - t0)) s"
}

# w_small: short programs, for single steps too
w_small()
{
	w ls /dev/null ls -laR --color=always --time-style=full-iso "$in/tree"
	w sort "$in/rows" sort -k3,3 -k1nr -u -s
	w sed "$in/rows" sed -n -e 's/word\([0-9]*\)/<\1>/gp;/^5/{h;n;G;y/abc/xyz/;p}' -e '$!N;P;D'
	w grep "$in/text" grep -nE -o '(struct|static) +[a-z_]+|\b[0-9]{2,}\b|[[:upper:]]+$'
	w find /dev/null find "$in/tree" -name '*o*' -size +1k -printf '%p %s %TY %M\n' -o -type d -newer /etc/passwd -ls
	w printf /dev/null printf '%s %5d %x %e %b %q\n' a 1 255 1.5 'a\tb' 'x y'
	w date /dev/null date -d '2020-02-29 12:00 +3 days' '+%A %B %d %Y %j %U %s %N %z %p'
	w numfmt /dev/null numfmt --to=iec --format=%.2f 123456 98765432
	w expr /dev/null expr '(' 3 + 4 ')' '*' 5 '>' 6 '&' abc : 'a\(.\)c'
	w bc "$in/bc" bc -lq
	w dash "$in/dash" dash
	w jq "$in/t.json" jq -c '[.a[]|tostring],(.d/3|floor),(.e|not),([range(5)]|map(.*2)|add),(.a|length),(keys),("x y"|split(" ")),(.. | numbers), (try error("x") catch .), ([1,3,2]|sort_by(-.)), @base64 "\(.d)", (.a[2]|to_entries), reduce .a[0:2][] as $x (0; . + $x), ("test"|test("^t.*")), (now|type), limit(2; .a[])'
	w xmllint "$in/t.xml" xmllint --format --xpath '//b/text()|//c' -
	w m4 "$in/m4" m4
	w diff /dev/null diff -u "$in/rows" "$in/repo/rows"
	w file /dev/null file -k "$in/t.tar" "$in/t.txt.gz" "$in/t.xml" "$tally"
	w busybox /dev/null 'busybox' sh "$in/dash"
}

# w_large: programs with many dispatches
w_large()
{
	w cc1 /dev/null "$(cd "$root/" && echo usr/lib/gcc/*/12/cc1)" -quiet -O2 -g \
		"$in/cfg-table.i" -o "$tmp/run/cc1.s"
	w cc1-O3 /dev/null "$(cd "$root/" && echo usr/lib/gcc/*/12/cc1)" -quiet -O3 -fsanitize=undefined -Wall -Wextra \
		"$in/flow-place.i" -o "$tmp/run/cc1.s"
	w cc1-Os /dev/null "$(cd "$root/" && echo usr/lib/gcc/*/12/cc1)" -quiet -Os -fanalyzer -Wall \
		"$in/cfg-dispatch.i" -o "$tmp/run/cc1.s"
	w cc1-bad "$in/bad.i" "$(cd "$root/" && echo usr/lib/gcc/*/12/cc1)" -quiet -O1 -Wall -Wextra -fopenmp -std=gnu17 \
		- -o "$tmp/run/cc1.s"
	w cc1-c /dev/null "$(cd "$root/" && echo usr/lib/gcc/*/12/cc1)" -quiet -O3 -ftree-vectorize -fdump-tree-all -fdump-rtl-all -dumpdir "$tmp/run/" \
		"$in/mix.i" -o "$tmp/run/cc1.s"
	w cc1plus /dev/null "$(cd "$root/" && echo usr/lib/gcc/*/12/cc1plus)" -quiet -O2 -fpreprocessed \
		"$in/t.ii" -o "$tmp/run/cc1plus.s"
	w f951 /dev/null "$(cd "$root/" && echo usr/lib/gcc/*/12/f951)" -quiet -O2 -ffree-form \
		"$in/t.f90" -o "$tmp/run/f951.s"
	w python /dev/null python3.11 -E -S -B "$in/t.py"
	w perl /dev/null perl "$in/t.pl"
	w mawk "$in/rows" mawk -f "$in/t.awk"
	w gawk "$in/rows" gawk -f "$in/t.awk"
	w bash /dev/null bash --norc "$in/t.sh"
	w mksh /dev/null mksh "$in/dash"
	w lua /dev/null 'lua5.4 lua5.3' "$in/t.lua"
	w tclsh "$in/tcl" tclsh8.6
	w sqlite3 "$in/t.sql" sqlite3 -batch :memory:
	w git-log /dev/null git -c core.pager= -C "$in/repo" log -p --stat --graph --decorate --format='%H %an %ad %s%n%b' --date=iso
	w git-blame /dev/null git -C "$in/repo" blame -w -C rows
	w git-fsck /dev/null git -C "$in/repo" fsck --full
	w openssl /dev/null openssl speed -seconds 1 -bytes 256 sha256
	w openssl-enc "$in/text" openssl enc -aes-256-cbc -pbkdf2 -pass pass:x -e -a
	w openssl-req /dev/null openssl req -x509 -newkey rsa:1024 -nodes -keyout "$tmp/run/k" -out "$tmp/run/c" -subj /CN=x -config /dev/null
	w openssl-ec /dev/null openssl ecparam -name prime256v1 -genkey -text
	w xz "$in/text" xz -9e -c
	w xz-d /dev/null xz -dc "$in/t.txt.xz"
	w gzip-d /dev/null gzip -dc "$in/t.txt.gz"
	w gzip "$in/text" gzip -9 -c
	w bzip2 "$in/text" bzip2 -c
	w bzip2-d /dev/null bzip2 -dc "$in/t.txt.bz2"
	w zstd "$in/text" zstd -19 -c
	w tar /dev/null tar tvf "$in/t.tar" --exclude='*x'
	w tar-c /dev/null tar cvf /dev/null --sort=name --owner=0 -C "$in" tree
	w unzip /dev/null unzip -lv "$in/t.zip"
	w gdb /dev/null gdb -nx -batch -iex 'set auto-load no' -ex 'p 1+2*3' -ex 'info files' -ex 'x/400i _start' -ex 'p/x sizeof(int)' -ex 'info line' -ex 'complete info s' "$(program ls)"
	w vim /dev/null 'vim.tiny vim.basic vim' -u NONE -N -es -n -c '%s/x/y/g' -c 'g/a/d' -c 'let a=map(range(9),"v:val*2")' -c 'q!' "$in/rows"
	w make /dev/null make -n -p -f "$in/Makefile"
	w rg /dev/null rg -n --no-config -e '(struct|static)\s+\w+' -e '\d{3,}' "$in/tree"
	w clang /dev/null 'clang-14 clang' -O2 -S -o "$tmp/run/clang.s" "$in/flow-place.i"
	w clang++ /dev/null 'clang-14 clang' -O1 -S -o "$tmp/run/clang.s" "$in/t.ii"
	w clang-c /dev/null 'clang-14 clang' -O3 -g -S -emit-llvm -Weverything -o "$tmp/run/clang.ll" "$in/mix.i"
	w clang-s /dev/null 'clang-14 clang' -O3 -g -c -o "$tmp/run/clang.o" "$in/mix.i"
	w clang-bad "$in/bad.i" 'clang-14 clang' -fsyntax-only -Wall -Xclang -ast-dump -x c -
	w objdump /dev/null 'objdump aarch64-linux-gnu-objdump' -d -C "$(program ls)"
	w readelf /dev/null 'readelf aarch64-linux-gnu-readelf' -aW "$(program ls)"
	w gperl-re "$in/text" perl -ne 'print if /(?:\b\w{3,}\s*){2}[;{]$/ && !/^\s*\*/; $h{$_}++ for /\w+/g; END { print "$_ $h{$_}\n" for sort keys %h }'
	w groff "$in/man" troff -Tascii -man
}

# more_inputs: little ones
more_inputs()
{
	printf 'define f(x) { if (x<2) return 1; return x*f(x-1); }\nf(20); scale=30; e(1); 4*a(1); sqrt(2); obase=16; 255; for(i=0;i<9;i++) i^2; while(i>5) i-=2; s(1)+c(1)+l(2); 7%%3; a[3]=4; a[3]++; "x"; length(12.3)\nquit\n' >"$in/bc"
	printf 'x=abc; echo ${x%%c} ${#x} $((3*4%%5<<2|1)); for i in 1 2 3; do case $i in 2) continue;; *) echo $i;; esac; done; f() { echo $1; return 3; }; f a || echo $?; while :; do break; done; set -- a b; shift; echo $*; [ -n "$x" ] && printf "%%s %%d\\n" a 5; cat() { while read a; do echo $a; done; }; cat <<E\nhere $x\nE\ntrap "echo t" EXIT; (exit 2); echo $?; eval echo hi; unset x; echo ${x:-d} ${y:+z}; test 1 -lt 2; export a=1; umask; type echo; command -v ls; IFS=:; until true; do :; done; getopts ab o -a; echo $o\n' >"$in/dash"
	printf 'define(f,`ifelse($1,0,1,`eval($1*f(decr($1)))'"'"')'"'"')f(5) len(abc) index(abc,c) substr(hello,1,3) translit(abc,a-c,x-z) regexp(abc,b) patsubst(abc,b,d) format(%%05d,3) incr(4) divert(1)x\ndivert undivert(1) dnl\ninclude(/dev/null)syscmd(:)undefine(`f'"'"')defn(`len'"'"')shift(1,2)pushdef(`a'"'"',1)popdef(`a'"'"')dumpdef(`len'"'"')\n' >"$in/m4"
	printf 'proc f {n} { expr {$n<2?1:$n*[f [expr {$n-1}]]} }\nputs [f 20]\nset l [lsort -integer {3 1 2}]; foreach x $l { incr s $x }; puts "$s [string map {a b} aaa] [regexp -inline {(\\w)b} ab] [format %%05.2f 3.14] [clock format 0 -gmt 1] [dict create a 1] [lindex $l end]"\nset a(1) 2; while {$a(1)>0} {incr a(1) -1}; switch -glob abc {a* {puts g} default {}}; catch {error x} e; puts $e; namespace eval n {variable v 1}; puts [string toupper abc][llength $l][join $l ,][split a,b ,][expr {sin(1)+2**10%%7}][lrange $l 0 1][info commands p*]; proc g args {upvar 1 s z; return [uplevel 1 set s]}; puts [g 1 2]; for {set i 0} {$i<5} {incr i} {if {$i==3} break else continue}; puts [binary format c3 {1 2 3}][scan 12 %%d][string match a* abc][lsearch $l 2][encoding names]; coroutine c apply {{} {yield 1; yield 2}}; puts [c]\n' >"$in/tcl"
	printf 'a = b\nx: y z\n\techo $@ $(a:b=c) $(patsubst %%.c,%%.o,a.c) $(wildcard /*) $(foreach i,1 2,$(i)) $(sort c b a) $(if x,y) $(shell :) $(words a b)\ny z:\n\ttouch $@\nifeq ($(a),b)\nc := 1\nelse\nendif\ndefine d\nq\nendef\n.PHONY: x\n%%.o: %%.c\n\tcc $<\n' >"$in/Makefile"
	printf '.TH T 1\n.SH NAME\nt \\- test\n.PP\n.B bold\n\\fIital\\fP text\n.TP 4\nx\ny\n.nf\ncode\n.fi\n.de M\n.if \\\\$1=1 one\n..\n.M 1\n.nr a 5+3\n\\na \\(bu \\s+2x\\s0\n' >"$in/man"
	cat >"$in/mix.i" <<-'C'
	typedef unsigned long size_t; typedef int v4 __attribute__((vector_size(16)));
	enum e { A, B, C = 9, D }; struct s { int a : 3; unsigned b : 5; long c; double d[4]; union { float f; char x[8]; } u; };
	extern void *malloc(size_t); extern int printf(const char *, ...); extern double sqrt(double); extern void *memcpy(void *, const void *, size_t);
	_Thread_local int tls; _Atomic int at; volatile int vol; static const char *const names[] = {"a", "b", "c"}; _Complex double cx;
	static inline int f(int x) { switch (x) { case 0: return 3; case 1: return vol; case 2: return 7; case 3: return x * 5; case 4 ... 9: return -x; default: return 1; } }
	int g(struct s *p, int n) { int i, t = 0; for (i = 0; i < n; i++) { p[i].a += i; t ^= p[i].b << 2; if (p[i].c % 7 == 3) goto out; p[i].d[i & 3] /= 3.0; } out: return t; }
	void vadd(float *restrict a, const float *restrict b, int n) { for (int i = 0; i < n; i++) a[i] = a[i] * b[i] + 1.5f; }
	long red(const int *a, int n) { long s = 0; for (int i = 0; i < n; i++) s += a[i] > 3 ? a[i] : -a[i]; return s; }
	v4 vec(v4 a, v4 b) { return a * b + (v4){1, 2, 3, 4} - (a > b); }
	double fp(double x, float y, long double z) { return sqrt(x) + __builtin_fabs(y) + (double)(z * 2) + (int)x + (unsigned long)y + __builtin_copysign(x, y); }
	int cg(const unsigned char *p) { static void *l[] = {&&a, &&b, &&c, &&d}; int r = 0; goto *l[*p & 3]; a: r++; p++; goto *l[*p & 3]; b: r += 2; p++; goto *l[*p & 3]; c: r ^= 5; p++; goto *l[*p & 3]; d: return r; }
	int bits(unsigned x) { return __builtin_popcount(x) + __builtin_clz(x | 1) + __builtin_ctz(x | 8) + __builtin_bswap32(x) + (x >> 3 | x << 29); }
	int rec(int n) { return n < 2 ? n : rec(n - 1) + rec(n - 2); } int tail(int n, int a) { return n ? tail(n - 1, a * n) : a; }
	void at1(int *p) { __atomic_fetch_add(p, 1, 5); __sync_bool_compare_and_swap(p, 1, 2); at++; tls += at; __asm__ volatile("" : : : "memory"); }
	struct s ret(struct s a, ...) { __builtin_va_list ap; __builtin_va_start(ap, a); a.c += __builtin_va_arg(ap, int); a.u.f = (float)__builtin_va_arg(ap, double); __builtin_va_end(ap); return a; }
	int ov(int a, int b) { int r; return __builtin_add_overflow(a, b, &r) ? -1 : __builtin_mul_overflow(a, b, &r) ? -2 : r; } void *al(size_t n) { char *p = __builtin_alloca(n); return memcpy(malloc(n), p, n); }
	int main(int argc, char **argv) { struct s x = {.a = 1, .d = {[2] = 3}}; int a[argc + 1]; for (int i = 0; i <= argc; i++) a[i] = f(i) + ov(i, 3); do { argc--; } while (argc > 0 && argv[argc]); printf("%d %s %f\n", g(&x, 1), names[argc & 1], fp(1, 2, 3)); cx *= 2; return red(a, 1) + tail(5, 1) + rec(9) + bits(7) + (x.u.f > 2 || argc && !tls) + (({ int q = argc; q; })); }
	C
	cat >"$in/bad.i" <<-'C'
	int f(int x { return; } struct s { int a; int a; }; int g(void) { undeclared(3); int *p = 5.0; char c = 300; if (c = 3) ; return "s"; }
	enum { X, X }; void h(int n) { int a[n]; a = 0; switch (n) { case 1: case 1: ; default: default: ; } goto nowhere; break; } extern int e; static int e; int *q = &3;
	_Static_assert(0, "no"); int k = 1 / 0; typedef int t; t t t; int m() { for (int i = 0; i < 10; i++) { } ; return i; } __attribute__((foo)) int z; #pragma omp parallel for
	void p(void) { const int c = 1; c++; int x; x = x + 1 << 3 & 2 == 2; printf("%d %s\n", "a", 3); unsigned u = -1; if (u < 0) return; { int x = sizeof(void); } 5; *p; p.x; p->y; (struct s){1}; f(1)(2); }
	_Generic(1, int: 2); int old(a, b) int a; char *b; { return a + b; } float fl = 0x1.8p3 + 1e400 + '\q' + L'x' + u8"s"; int v[-1], w[] = {1, 2, [9] = 3}; inline inline register auto int r; int main(char c) { }}
	C
	(cd "$in" && zip -qr t.zip tree 2>/dev/null)
}

# --- graphs and judgement ---

# graph_of IMAGE: where its graph is kept
graph_of()
{
	echo "$tmp/graph/$(printf %s "$1" | tr / _)"
}

# make_graphs <IMAGES: one graph and list of dispatches each, if not there
make_graphs()
{
	local image g
	mkdir -p "$tmp/graph"
	while read -r image; do
		g=$(graph_of "$image")
		[ -e "$g.json" ] && continue
		"$tally" cfg --json "$image" >"$g.json" &&
			"$judge" --list "$image" <"$g.json" >"$g.list"
	done
}

# judge_set: all traces of the set; results to $traces.results
judge_set()
{
	local image
	cd "$traces" || exit 1
	cut -f2 -- * | grep ^/ | sort -u >"$tmp/images"
	make_graphs <"$tmp/images"
	while read -r image; do
		"$judge" "$image" "$traces"/* <"$(graph_of "$image").json"
		[ -n "$KEEP" ] || [ "$mode" = ptrace ] ||
			rm -f "$(graph_of "$image").json"
	done <"$tmp/images" >"$traces.results"
	cd "$OLDPWD" || exit 1
}

# report_set: tables from $traces.results; adds to passed and failed
report_set()
{
	echo
	echo "== $set_name"
	awk -F '\t' -v wanted="$([ $mode = step ] && echo 0 || echo "$wanted")" '
	function base(p) { sub(/.*\//, "", p); return p }
	BEGIN { f = "%-12s %-28s %7s %7s %7s %7s %7s %8s %8s %5s\n"
		printf f, "program", "image", "bounded", "approx", "unknown",
			"tail", "targets", "transfer", "in-place", "bad" }
	$1 == "image" && $3 != "all" && ($4 + $5 + $6 + $7 + $9 > 0) {
		printf f, $3, substr(base($2), 1, 28), $4, $5, $6, $7, $8, $9,
			$10, $11; programs[$3] = 1 }
	$1 == "image" && $3 == "all" { for (i = 4; i <= 11; i++) s[i] += $i; images++ }
	$1 == "violation" && !known[$2, $4, $5, $6]++ { kind[$4]++
		bad[++nbad] = $4 ": " base($2) " " $5 " -> " $6 " in " $7 " (" $3 ")" }
	END { printf f, "all", images " images", s[4], s[5], s[6], s[7],
			s[8], s[9], s[10], s[11]
		for (p in programs) n++
		printf "%d programs, %d dispatches ran (bounded or approximated), " \
			"%d targets, %d violations\n", n, s[4] + s[5], s[8], s[11]
		for (k in kind) printf "%6d different: %s\n", kind[k], k
		for (i = 1; i <= nbad; i++) print "  " bad[i]
		exit (nbad > 0 || s[4] + s[5] < wanted) }' "$traces.results"
	if [ $? -eq 0 ]; then
		passed=$((passed + 1))
		echo "ok $((passed + failed)) - $set_name"
	else
		failed=$((failed + 1))
		echo "not ok $((passed + failed)) - $set_name"
	fi
}

# run_set NAME MODE WORKLOADS...: observe, judge, report
run_set()
{
	set_name=$1
	mode=$2
	shift 2
	traces=$tmp/traces-${set_name// /-}
	[ -n "$AGAIN" ] || rm -rf "$traces"
	mkdir -p "$traces" "$traces.logs" "$tmp/run"
	for workload; do
		$workload
	done
	judge_set
	report_set
}

# use_emulator ISA: set emulator; make the plugin
use_emulator()
{
	emulator=$(command -v qemu-$1) || return 1
	cc -O2 -D_GNU_SOURCE -shared -fPIC -o "$tmp/qemu-flow.so" \
		"$here/../lib/qemu-flow.c" &&
		"$emulator" -h | grep -q -- -plugin
}

[ $# -gt 0 ] || set -- native native-emulated foreign
passed=0
failed=0
tally=$(realpath "$tally")
judge=$(realpath "$judge")
tracer=$(realpath "$tracer")
rm -rf "$tmp/graph"
make_inputs
more_inputs
for what; do
	case $what in
	native)
		root=
		run_set "$this_isa ptrace" ptrace w_small w_large
		run_set "$this_isa steps" step w_small ;;
	native-emulated)
		root=
		use_emulator $this_isa &&
			run_set "$this_isa emulated" qemu w_small w_large ||
			echo "# no qemu-$this_isa with plugins" ;;
	foreign)
		packages_fetch $other_arch $packages ||
			echo "# some packages are missing"
		root=$(packages_root $other_arch)
		use_emulator $other_isa &&
			run_set "$other_isa emulated" qemu w_small w_large ||
			echo "# no qemu-$other_isa with plugins" ;;
	*)
		echo "soundness.sh: what is '$what'?" >&2
		exit 2 ;;
	esac
done
echo "1..$((passed + failed))"
echo "# $passed passed, $failed failed"
[ $failed -eq 0 ]
