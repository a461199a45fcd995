"""work: programs of an AArch64 root, and what they are given to do, for
benchmarks that run them rewritten beside the originals.

On an AArch64 machine the user time is measured; elsewhere the instructions
that qemu executes are counted, which is not time: it does not tell what a
jump costs a branch predictor, nor what an idle unit of the processor does for
free.
"""
import os
import platform
import resource
import subprocess

HERE = os.path.dirname(os.path.abspath(__file__))
NATIVE = platform.machine() == "aarch64"
LOADER = "ld-linux-aarch64.so.1"

PERL = ('my %h; for my $i (1..60000) { $h{$i % 97} .= chr(65 + $i % 26); }'
        'print join(",", map { length $h{$_} } sort keys %h), "\\n";')
PYTHON = """
def fib(n): return n if n < 2 else fib(n - 1) + fib(n - 2)
print(fib(20), sum(len(str(i)) for i in range(20000)))
"""
LUA = ("local t = {} for i = 1, 60000 do t[#t + 1] = (i * 7919) % 1000 end "
       "table.sort(t) local s = 0 for _, v in ipairs(t) do s = s + v end "
       "local function fib(n) if n < 2 then return n end "
       "return fib(n - 1) + fib(n - 2) end print(s, fib(27))")
AWK = ("BEGIN { for (i = 0; i < 90000; i++) { a[i % 101] += i; "
       "s = s substr(\"abcdef\", i % 6 + 1, 1) } print length(s), a[7] }")
SQL = ("create table t(a integer, b text); with recursive c(x) as (select 1 "
       "union all select x + 1 from c where x < 20000) insert into t select "
       "x * 7919 % 1009, 'row' || x from c; create index i on t(a); "
       "select count(*), sum(a) from t where a between 100 and 500; "
       "select b from t order by a, b limit 3;")

WORK = [  # name, where, arguments, input
    ("bzip2", "bin", ["-c"], "text"), ("gzip", "bin", ["-c", "-6"], "text"),
    ("xz", "usr/bin", ["-c", "-2"], "text"),
    ("minisat", "usr/bin", ["-verb=0", "INPUT"], "cnf"),
    ("lua5.4", "usr/bin", ["-e", LUA], None),
    ("sqlite3", "usr/bin", [":memory:", SQL], None),
    ("gawk", "usr/bin", [AWK], None), ("mawk", "usr/bin", [AWK], None),
    ("perl", "usr/bin", ["-e", PERL], None),
    ("python3.11", "usr/bin", ["-S", "-E", "-c", PYTHON], None),
    ("cc1", "usr/lib/gcc/aarch64-linux-gnu/12",
     ["-quiet", "-O2", "-o", "/dev/null", "INPUT"], "c"),
]


def pigeons(holes):
    """n + 1 pigeons do not fit into n holes: hard for a solver"""
    at = [[p * holes + h + 1 for h in range(holes)] for p in range(holes + 1)]
    rows = [" ".join(map(str, row)) for row in at]
    rows += ["-%d -%d" % (at[p][h], at[q][h]) for h in range(holes)
             for p in range(holes + 1) for q in range(p)]
    return "p cnf %d %d\n" % (holes * (holes + 1), len(rows)) + \
        "".join(row + " 0\n" for row in rows)


def needed(path):
    out = subprocess.run(["readelf", "-dW", path], capture_output=True,
                         text=True).stdout
    return [line.split("[")[1].rstrip("]\n") for line in out.splitlines()
            if "(NEEDED)" in line]


def library(root, name):
    for folder in ("lib/aarch64-linux-gnu", "usr/lib/aarch64-linux-gnu",
                   "usr/lib"):
        path = os.path.join(root, folder, name)
        if os.path.exists(path):
            return path
    return None


class Place:
    """A folder of programs and libraries, rewritten or not."""

    def __init__(self, root, folder, rewriter=None):
        """rewriter: words of a command that gets FILE -o OUT; None: copied"""
        self.root, self.folder, self.rewriter = root, folder, rewriter
        os.makedirs(folder + "/lib", exist_ok=True)
        self.loader = self.put(library(root, LOADER),
                               folder + "/lib/" + LOADER, None)

    def put(self, src, dst, rewriter):
        if rewriter:
            subprocess.run([*rewriter, src, "-o", dst], check=True,
                           stdout=subprocess.DEVNULL)
        else:
            subprocess.run(["cp", "-L", src, dst], check=True)
        return dst

    def add(self, program):
        dst = self.folder + "/" + os.path.basename(program)
        self.put(program, dst, self.rewriter)
        todo = needed(program)
        while todo:
            name = todo.pop()
            to = self.folder + "/lib/" + name
            src = library(self.root, name)
            if name == LOADER or not src or os.path.exists(to):
                continue
            self.put(src, to, self.rewriter)
            todo += needed(src)
        return dst


def run(place, program, args, given, plugin, count):
    cmd = [place.loader, "--library-path", place.folder + "/lib", program,
           *args]
    if not NATIVE:
        cmd = ["qemu-aarch64", "-plugin", "%s,out=%s" % (plugin, count), *cmd]
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    p = subprocess.run(cmd, stdin=open(given or "/dev/null"),
                       capture_output=True)
    time = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
    return (p.returncode, p.stdout), time if NATIVE else int(open(count).read())


def inputs(tmp):
    """{kind: file} of what programs work on"""
    given = {"text": tmp + "/text", "c": tmp + "/input.i",
             "cnf": tmp + "/input.cnf"}
    with open(given["text"], "w") as f:
        f.writelines("%d line %d\n" % (i * 7919 % 1009, i)
                     for i in range(40000))
    with open(given["cnf"], "w") as f:
        f.write(pigeons(7))
    subprocess.run(["cc", "-std=gnu11", "-D_GNU_SOURCE",
                    "-I" + HERE + "/../src", "-E", "-P", "-o", given["c"],
                    HERE + "/../src/flow/place.c"], check=True)
    return given


def counter(tmp):
    """qemu's plugin that counts instructions"""
    plugin = tmp + "/insns.so"
    subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-o", plugin,
                    HERE + "/../tests/lib/qemu-insns.c"], check=True)
    return plugin
