#!/usr/bin/env python3
"""
launch/load: libraries of a program run by `tally count`, however they are
found and loaded: they come out of the cache, and the program sees the names
that it sees without tally.
"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, "tests/lib")
from launch import *
from patience import until

tap = Tap()
top = tempfile.TemporaryDirectory()
where = os.path.realpath(top.name)
CACHE = os.path.join(where, "the-cache")
os.environ["TALLY_CACHE"] = CACHE
for name in ("LD_AUDIT", "LD_PRELOAD", "LD_LIBRARY_PATH", "QEMU_LD_PREFIX"):
    os.environ.pop(name, None)


def path(*names):
    return os.path.join(where, *names)


def cold():
    shutil.rmtree(CACHE, ignore_errors=True)


def cool(start):
    """Nothing is in the cache but the C library, which is rewritten the same
    way whatever is loaded beside it."""
    cold()
    shutil.copytree(start, CACHE, symlinks=True)


class Case:
    """One machine's programs and libraries in a folder of their own."""

    def __init__(self, m):
        self.m = m
        self.at = path(m.isa)
        for folder in ("bin", "lib/deps", "plug", "store"):
            os.makedirs(self.file(folder))
        dep = m.library(self.file("lib/deps/libdep.so"), 100)
        self.load = m.build(self.file("bin/load"), "load.c", "-ldl")
        self.start = self.cache_of_libc()
        self.abs = m.library(self.file("plug/abs.so"), 1)
        m.library(self.file("store/real-1.2.so"), 2)
        os.symlink("../store/real-1.2.so", self.file("plug/link.so"))
        m.library(self.file("lib/libone.so"), 3)
        # needs libdep.so, found relative to itself
        with open(self.file("lib/libtwo.c"), "w") as f:
            f.write("int other(void) { return 4; }\n")
        subprocess.run([*m.cc, "-shared", "-fPIC", "-o",
                        self.file("lib/libtwo.so"), self.file("lib/libtwo.c"),
                        "-Wl,--no-as-needed", "-L" + self.file("lib/deps"),
                        "-ldep", "-Wl,-rpath,$ORIGIN/deps"], check=True)
        # a program with libraries beside it, in two ways
        for tag in ("--enable-new-dtags", "--disable-new-dtags"):
            m.build(self.file("bin/near" + tag[2:4]), "load.c",
                    "-Wl,--no-as-needed", "-L" + self.file("lib"), "-lone",
                    "-ltwo", "-Wl,-rpath-link," + self.file("lib/deps"),
                    "-Wl," + tag, "-Wl,-rpath,$ORIGIN/../lib:$ORIGIN/../plug")

    def file(self, name):
        return os.path.join(self.at, name)

    def cache_of_libc(self):
        """A cache as a program leaves it that only returns; but for that."""
        bare, start = self.file("bin/bare"), self.file("start")
        with open(bare + ".c", "w") as f:
            f.write("int main(void) { return 0; }\n")
        self.m.build(bare, bare + ".c")
        cold()
        run(COUNT + [bare])
        shutil.move(CACHE, start)
        return start

    def judge(self, result):
        """What of a run counts: tally itself hears LD_AUDIT, too, and an
        emulator's loader meets foreign libraries and sorts variables."""
        status, out, err = result
        lines = out.splitlines()
        if "audit version " in lines:
            del lines[:len(lines) - 1 - lines[::-1].index("audit version ")]
        if self.m.emulator:
            lines = sorted(l for l in lines if not l.startswith("environ "))
            err = "\n".join(e for e in err.splitlines()
                            if "ERROR: ld.so: object" not in e)
        return status, "\n".join(lines), err

    def same(self, name, *words, loader=(), program=None, **more):
        """Cold and warm the program prints what it prints without tally."""
        words = [program or self.load, *words]
        env = dict(os.environ, **dict(v.split("=", 1) for v in loader))
        plain = dict(os.environ) if self.m.emulator else env
        want = run(self.m.plain(words, loader=loader), env=plain, **more)
        for how in ("cold", "warm"):
            if how == "cold":
                cool(self.start)
            got = self.judge(run(COUNT + words, env=env, **more))
            tap.ok(got == self.judge(want), "%s: %s, %s" % (self.m.isa, name, how),
                   differences(want[1], got[1]) +
                   differences(want[2], got[2]) +
                   ["status %d and %d" % (want[0], got[0])])

    def cached(self, name, *words, loader=(), **more):
        """The library that was loaded last is the rewritten one."""
        env = dict(os.environ, **dict(v.split("=", 1) for v in loader))
        got = run(COUNT + [self.load, *words, "where", CACHE], env=env, **more)
        tap.ok("from there: yes" in got[1] and got[0] == 0,
               "%s: %s: rewritten" % (self.m.isa, name), got[1:])

    def both(self, name, *words, **more):
        self.same(name, *words, "call", "children", **more)
        self.cached(name, *words, **more)


def try_counted(c):
    """libraries are counted by whatever name they were found"""
    for tag in "en", "di":
        profile = c.file("near.tally")
        got = run([TALLY, "count", "-o", profile, c.file("bin/near" + tag),
                   "open", "$ORIGIN/../plug/abs.so", "open", "libone.so"])
        told = run([TALLY, "report", "--by", "image", "--json", profile])
        rows = {r["image"]: r["instructions"] for r in json.loads(told[1])}
        want = ("libone.so", "libtwo.so", "libdep.so", "abs.so", "near" + tag)
        tap.ok(got[0] == 0 and not told[2] and
               all(isinstance(rows.get(n), int) for n in want),
               "%s: %s: counted" % (c.m.isa, tag), got[1:] + told[1:])


def try_open(c):
    c.both("an absolute name", "open", c.abs)
    c.both("by a link", "open", c.file("plug/link.so"))
    c.both("a relative name", "open", "./plug/abs.so", cwd=c.at)
    c.both("a name with ..", "open", c.file("lib/deps/../../plug/abs.so"))
    c.both("by its name", "open", "libone.so",
           loader=["LD_LIBRARY_PATH=" + c.file("lib")])
    c.both("by its name, the second folder", "open", "libone.so",
           loader=["LD_LIBRARY_PATH=/nowhere:" + c.file("lib")])
    c.both("$ORIGIN in LD_LIBRARY_PATH", "open", "abs.so", "open",
           "libone.so", loader=["LD_LIBRARY_PATH=$ORIGIN/../plug:"
                                "$ORIGIN/../lib"])
    c.both("$ORIGIN", "open", "$ORIGIN/../plug/abs.so")
    c.both("${ORIGIN}", "open", "${ORIGIN}/../plug/link.so")
    c.both("again", "open", c.abs, "open", c.abs, "noload", c.abs)
    c.same("two names of one file", "open", c.file("plug/link.so"), "open",
           c.file("store/real-1.2.so"), "noload", c.file("plug/link.so"))
    c.same("in a loop", "loop", c.abs, "loop", c.file("plug/link.so"),
           "loop", "libone.so", loader=["LD_LIBRARY_PATH=" + c.file("lib")])
    if c.m.emulator:
        # which knows no children without a signal, nor how to filter calls
        c.same("in a small thread", "thread", c.abs, "call")
    else:
        c.both("in a small thread", "thread", c.abs)
        c.same("in a sandbox", "sandbox", "open", c.abs, "call")
    c.same("another name space", "space", c.abs, "call", "open", c.abs,
           "call")
    c.same("what is not there", "open", "/no/such.so", "open", "none.so",
           "open", c.file("lib"))
    c.same("what is no library", "open", c.file("lib/libtwo.c"))
    c.same("a library with libraries", "open", c.file("lib/libtwo.so"),
           "open", "libdep.so", "noload", "libdep.so")
    c.same("names and conversions", "user", "iconv", "children")
    for near in ("nearen", "neardi"):
        c.same("libraries beside the program, " + near, "open", "libone.so",
               "call", "open", "libtwo.so", "open", "abs.so", "call",
               "open", "libdep.so", program=c.file("bin/" + near))


def try_loader_words(c):
    c.m.library(c.file("lib/libpre.so"), 77)
    c.same("LD_PRELOAD", "open", c.file("lib/libpre.so"), "call",
           loader=["LD_PRELOAD=" + c.file("lib/libpre.so")])
    c.same("LD_PRELOAD by name", "open", "libpre.so", "call",
           loader=["LD_PRELOAD=libpre.so",
                   "LD_LIBRARY_PATH=" + c.file("lib")])
    c.m.library(c.file("store/moved.so"), 55)
    audit = c.m.build(c.file("lib/audit.so"), "audit.c", "-shared", "-fPIC",
                      '-DMOVED="%s"' % c.file("store/moved.so"))
    c.both("a user's LD_AUDIT", "open", "libmoved.so",
           loader=["LD_AUDIT=" + audit])
    world = c.m.build(c.file("bin/world"), "world.c")
    c.same("a user's LD_AUDIT stays in the environment", program=world,
           loader=["LD_AUDIT=" + audit])
    c.same("LD_BIND_NOW", "open", c.abs, "call", loader=["LD_BIND_NOW=1"])


def try_interp(c):
    """A loader by another name."""
    if c.m.emulator:
        return
    odd = c.file("lib/odd-loader")
    real = re.search(r"interpreter: (\S+)\]", subprocess.check_output(
        [tool(HOST, "readelf"), "-lW", c.load], text=True)).group(1)
    shutil.copy(os.path.realpath(real), odd)
    program = c.m.build(c.file("bin/odd"), "world.c",
                        "-Wl,--dynamic-linker," + odd)
    c.same("a loader by another name", program=program)


def try_libs(c):
    def mapped(libs, name):
        cold()
        got = run(COUNT + ["--libs", libs, c.load, "open", name, "where",
                           CACHE], env=dict(os.environ,
                                            LD_LIBRARY_PATH=c.file("lib")))
        return "from there: yes" in got[1]

    for libs, want in (("all", True), ("none", False), ("libone", True),
                       ("libone.so", True), ("libon", False),
                       ("libc,libone", True), ("libc", False)):
        tap.ok(mapped(libs, "libone.so") == want,
               "%s: --libs %s" % (c.m.isa, libs))


def try_big():
    """Programs that nobody here wrote."""
    def same(name, *words):
        if not shutil.which(words[0]):
            tap.skip(name, "no " + words[0])
            return
        want = run(words)
        for how in ("first", "second"):
            got = run(COUNT + list(words))
            tap.ok(got == want, "%s, %s" % (name, how),
                   differences(want[1], got[1]) + differences(want[2],
                                                             got[2]))

    same("python3 with extensions", "/usr/bin/python3", "-c",
         "import sys, ssl, sqlite3, zlib, ctypes, json, _decimal, hashlib\n"
         "print(sys.executable, sys.argv, ssl.OPENSSL_VERSION)\n"
         "print(sqlite3.connect(':memory:').execute('select 6*7')"
         ".fetchone(), zlib.crc32(b'x'), ctypes.c_int(5))\n"
         "print(_decimal.__file__, hashlib.sha256(b'x').hexdigest())")
    same("perl with XS", "perl", "-MPOSIX", "-MList::Util=sum",
         "-MData::Dumper", "-MSocket", "-e",
         "print sum(1..10), floor(2.5), Dumper([1]), inet_ntoa(INADDR_ANY)")
    same("bash", "bash", "-c", "for i in 1 2 3; do echo $i; done | tac; "
         "x=$(ls /); echo ${#x}; exec echo done")
    same("sort", "sort", "--parallel=2", "/etc/services")
    same("gdb", "gdb", "-batch", "-nx", "-ex", "python print(6*7)")


def try_odd_place(c):
    """Tally lies where a list of modules cannot lead."""
    odd = c.file("a,b" if c.m.emulator else "a:b")
    shutil.copytree(os.path.dirname(TALLY) + "/lib/tally", odd + "/lib/tally")
    shutil.copy(TALLY, odd)
    status, out, err = run([odd + "/tally", *COUNT[1:], c.load, "open", c.abs,
                            "call"])
    lines = err.splitlines()
    tap.ok(status == 0 and "answer 1" in out and len(lines) == 1 and
           lines[0].startswith("tally: libraries: not rewritten"),
           c.m.isa + ": tally in a folder with an odd name",
           [str(status)] + out.splitlines() + lines)


def try_children():
    """fork and exec, and a process that outlives everything."""
    mark = path("mark")
    got = run(COUNT + ["sh", "-c", "(setsid sh -c 'until test -e %s.go; do "
                       "sleep 0.05; done; env > %s.new; mv %s.new %s' "
                       "> /dev/null 2>&1 &); echo started" %
                       (mark, mark, mark, mark)])
    tap.ok(got == (0, "started\n", ""), "a daemon is started", got)
    open(mark + ".go", "w").close()
    until(lambda: os.path.exists(mark))
    env = open(mark).read() if os.path.exists(mark) else "TALLY_LAUNCH"
    tap.ok("TALLY_LAUNCH" not in env and "LD_AUDIT" not in env,
           "and lives on, with a clean environment")


for m in machines():
    why = m.missing()
    if why:
        tap.skip(m.isa, why)
        continue
    c = Case(m)
    try_open(c)
    try_counted(c)
    try_loader_words(c)
    try_interp(c)
    try_libs(c)
    try_odd_place(c)
cold()
try_big()
try_children()
top.cleanup()
tap.done()
