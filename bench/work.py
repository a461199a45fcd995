"""work: what programs are given to do, in three sizes.

LARGE is for a clock: half a second or so; MIDDLE, a fifth of it, for callgrind
and qemu, which are slow, but whose start should not be what is measured; SMALL
for programs that are emulated throughout.
"""
import collections
import os
import random
import subprocess

HERE = os.path.dirname(os.path.abspath(__file__))
SMALL, MIDDLE, LARGE = range(3)

PERL = ('my %%h; for my $i (1..%d) { $h{$i %% 97} .= chr(65 + $i %% 26); }'
        'print join(",", map { length $h{$_} } sort keys %%h), "\\n";')
PYTHON = """
def fib(n): return n if n < 2 else fib(n - 1) + fib(n - 2)
print(fib(%d), sum(len(str(i)) for i in range(%d)))
"""
LUA = ("local t = {} for i = 1, %d do t[#t + 1] = (i * 7919) %% 1000 end "
       "table.sort(t) local s = 0 for _, v in ipairs(t) do s = s + v end "
       "local function fib(n) if n < 2 then return n end "
       "return fib(n - 1) + fib(n - 2) end print(s, fib(%d))")
AWK = ("BEGIN { for (i = 0; i < %d; i++) { a[i %% 101] += i; "
       "s = s substr(\"abcdef\", i %% 6 + 1, 1) } print length(s), a[7] }")
# a string that grows takes mawk quadratic time
MAWK = ("BEGIN { for (i = 0; i < %d; i++) { a[i %% 101] += i; "
        "s = substr(s \"abcdef\", i %% 6 + 1, 40) } print s, a[7] }")
SQL = ("create table t(a integer, b text); with recursive c(x) as (select 1 "
       "union all select x + 1 from c where x < %d) insert into t select "
       "x * 7919 %% 1009, 'row' || x from c; create index i on t(a); "
       "select count(*), sum(a) from t where a between 100 and 500; "
       "select b from t order by a, b limit 3;")

Work = collections.namedtuple("Work", "name program args given")
GOOD = (0, 20)  # 20: a solver that found no solution


class Inputs:
    """Files that programs work on, made when they are asked for."""

    def __init__(self, folder):
        self.folder = folder

    def file(self, name, lines):
        path = self.folder + "/" + name
        if not os.path.exists(path):
            with open(path, "w") as f:
                f.writelines(lines())
        return path

    def lines(self, n):
        return self.file("lines.%d" % n, lambda: (
            "%d line %d\n" % (i * 7919 % 1009, i) for i in range(n)))

    def prose(self, n):
        """n lines of words, the second half as frequent as the first, ..."""
        return self.file("prose.%d" % n, lambda: prose(n))

    def pigeons(self, holes):
        return self.file("pigeons.%d" % holes, lambda: [pigeons(holes)])

    def source(self, names):
        """Some of our sources, as one for a compiler."""
        unit = self.file("unit.%d.c" % len(names), lambda: (
            '#include "%s"\n' % name for name in names))
        out = unit.replace(".c", ".i")
        subprocess.run(["cc", "-std=gnu11", "-D_GNU_SOURCE",
                        "-I" + HERE + "/../src", "-E", "-P", "-o", out, unit],
                       check=True)
        return out


def prose(n):
    chance = random.Random(1992)
    words = ["".join(chance.choices("etaoinshrdlucmfw", k=chance.randint(2, 9)))
             for _ in range(4000)]
    often = [1 / rank for rank in range(1, len(words) + 1)]
    for _ in range(n):
        yield " ".join(chance.choices(words, often, k=10)) + "\n"


def pigeons(holes):
    """n + 1 pigeons do not fit into n holes: hard for a solver"""
    at = [[p * holes + h + 1 for h in range(holes)] for p in range(holes + 1)]
    rows = [" ".join(map(str, row)) for row in at]
    rows += ["-%d -%d" % (at[p][h], at[q][h]) for h in range(holes)
             for p in range(holes + 1) for q in range(p)]
    return "p cnf %d %d\n" % (holes * (holes + 1), len(rows)) + \
        "".join(row + " 0\n" for row in rows)


def graphs():
    """Sources that compile as one"""
    folder = HERE + "/../src/flow"
    return ["flow/" + f for f in sorted(os.listdir(folder))
            if f.endswith(".c")]


def given(inputs, size):
    """name: folder, arguments, input"""
    def by_size(*choices):
        return choices[size]

    def text(n):
        if size == SMALL:
            return inputs.lines(40000)
        return inputs.prose(n if size == LARGE else n // 5)
    unit = by_size(["flow/place.c"], graphs()[:4], graphs())
    return {
        "bzip2": ("bin", ["-c"], text(70000)),
        "gzip": ("bin", ["-c", "-6"], text(130000)),
        "xz": ("usr/bin", ["-c", "-2"], text(25000)),
        "minisat": ("usr/bin", ["-verb=0", inputs.pigeons(by_size(7, 7, 8))],
                    None),
        "lua5.4": ("usr/bin", ["-e", LUA % by_size(
            (60000, 27), (120000, 29), (600000, 32))], None),
        "sqlite3": ("usr/bin", [":memory:", SQL % by_size(
            20000, 160000, 800000)], None),
        "gawk": ("usr/bin", [AWK % by_size(90000, 500000, 2500000)], None),
        "mawk": ("usr/bin", [MAWK % by_size(90000, 500000, 2500000)], None),
        "perl": ("usr/bin", ["-e", PERL % by_size(
            60000, 1000000, 5000000)], None),
        "python3.11": ("usr/bin", ["-S", "-E", "-c", PYTHON % by_size(
            (20, 20000), (27, 800000), (30, 4000000))], None),
        "cc1": ("usr/lib/gcc/TRIPLET/12", ["-quiet", "-O2", "-o", "/dev/null",
                inputs.source(unit)], None),
    }


def works(machine, size, inputs, names=()):
    """What programs of a machine that are there do; names: only those."""
    for name, (folder, args, text) in given(inputs, size).items():
        program = machine.program(name, folder)
        if program and (not names or name in names):
            yield Work(name, program, args, text)
