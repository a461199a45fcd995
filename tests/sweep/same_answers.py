#!/usr/bin/env python3
"""same_answers: do two builds of tally answer alike?

    same_answers.py make DIR OLD
    same_answers.py list DIR
    same_answers.py run DIR BINARY OUT
    same_answers.py compare OUT1 OUT2 [--expect FILE]

make: profiles and databases to ask about, good ones and bad ones, in a new
folder DIR; programs are counted by the binary OLD, and databases written by
BUILD/tools/make-database (BUILD: build). Everybody must be able to read DIR,
for images are read by processes without privileges.

list: all command lines, one on each line. Those with TERM are run on a
terminal, others are not; `&&` stands between steps of one. Fails if an option,
or a value that is named there, of what `OLD help COMMAND` said is in none of
them.

run: runs them all with a binary, two at a time, and writes what came of each
to OUT: a line of JSON for each, compressed. The first line says what OUT is
about. Tells how many of them were answered. EVERY: one of so many command
lines (1), for builds that are slow.

compare: tells which came out differently; status 1 if there are any. FILE says
which are meant to: a regular expression of command lines, a tab, and a reason
on each line; # begins a comment.

Answers have to be the same to the last byte: status, output, messages, and
files that were written. Their names are in them, so both runs have to be in
the same DIR, and nothing there may change; that is checked. Nor may the
machine's libraries, debug files and tools, or its kernel. Binaries have to be
built by the same compiler with the same flags: others round last digits in
other ways.

    git worktree add /tmp/old main && make -C /tmp/old programs
    tests/sweep/same_answers.py make /tmp/asked /tmp/old/build/tally
    tests/sweep/same_answers.py run /tmp/asked /tmp/old/build/tally /tmp/1
    tests/sweep/same_answers.py run /tmp/asked build/tally /tmp/2
    tests/sweep/same_answers.py compare /tmp/1 /tmp/2
"""
import collections
import difflib
import fcntl
import glob
import gzip
import hashlib
import itertools
import json
import os
import random
import re
import shlex
import shutil
import struct
import subprocess
import sys
import tempfile
import termios
import threading
import time
import tty
from concurrent.futures import ThreadPoolExecutor

TOP = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(TOP, "tests/lib"))
from cfg_oracle import HOST, ISAS, Tap, compiler, tool
from patience import PATIENCE

TOOLS = os.path.join(TOP, os.environ.get("BUILD", "build"), "tools")
PROGS = os.path.join(TOP, "tests/progs")
OTHER = next(isa for isa in ISAS if isa != HOST)
COMMANDS = ("report", "annotate", "graph", "diff", "stats", "export", "merge",
            "snapshot", "cfg", "instrument")
ANSWERED = 80  # at least so many of 100 command lines should be
START, DAY = 1699920000, 86400  # of 2023-11-14
JOBS = 2
TIMED_OUT = 124  # status of timeout(1)
NOBODY = 65534

# ---------------------------------------------------------------- sources

# bin/NAME, compiler, sources (tests/progs, or made here), flags
PROGRAMS = """
plain       gcc  answers.c -O2 -g
zero        gcc  answers.c -O0 -g
cover       gcc  coverage.c -O0 -g
old/prog    gcc  answers.c -O1 -g
new/prog    gcc  answers.c -O1 -g -DNEWER
lines       g++  lines.cc -O2 -g
lines0      g++  lines.cc -O0 -g
leave       g++  count/leave.cc -O2 -g
calls       gcc  count/calls.c -O1 -g -w -pthread
plugin.so   gcc  count/calls-plugin.c -O1 -g -shared -fPIC
process     gcc  count/process.c -O1 -g -w -pthread
switch.so   gcc  switch.c -O2 -w -shared -fPIC
branches    gcc  branches.c branches2.c -O2 -w -g
twins       gcc  twins.c one.c two.c -O1 -g
bare        gcc  answers.c -O2 -s
lone        gcc  answers.c -O1 -g -DLONE
same        gcc  answers.c -O1 -g -DSAME
parted      gcc  answers.c -O1 -g -DPARTED
static      gcc  answers.c -O1 -g -static
bare2       gcc  answers.c -O2 -s -DNEWER
hub         gcc  hub.c -O2 -g
labels      gcc  rewrite/labels.c -O1 -g -w
fault       gcc  fault.c -O1 -g
p.so.1      gcc  count/calls-plugin.c -O1 -g -shared -fPIC
p.so.2      gcc  count/calls-plugin.c -O2 -g -shared -fPIC
alt/process gcc  count/process.c -O2 -g -w -pthread
clang       clang  answers.c -O2 -g -fdebug-info-for-profiling
"""

# what only this needs
TEXTS = {
    "one.c": """static volatile int sink;
__attribute__((noinline)) static void twin(int n)
{ for (int i = 0; i < n; i++) sink += i; }
void one(int n) { twin(n); }
""",
    "two.c": """static volatile int sink;
__attribute__((noinline)) static void twin(int n)
{ for (int i = 0; i < n; i++) sink ^= i; }
void two(int n) { twin(10 * n); }
""",
    "twins.c": """void one(int), two(int);
int main(int argc, char **argv) { one(argc); two(argc); return 0; }
""",
    "fault.c": """static volatile int n;
static int *volatile nothing;
int main(void)
{
	for (int i = 0; i < 9; i++)
		n += i;
	n = *nothing;
	return n;
}
""",
    "hub.c": """/* an interpreter: its jumps lead to any of its labels */
static const unsigned char code[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 3, 1, 10, 0};
#define OP(n, what) op##n: what; if (x > 999) x -= 999; goto *to[*pc++]
int main(int argc, char **argv)
{
	static const void *const to[] = {&&op0, &&op1, &&op2, &&op3, &&op4,
		&&op5, &&op6, &&op7, &&op8, &&op9, &&op10, &&op11};
	const unsigned char *pc = code;
	volatile int x = argc;
	int rounds = 20;

	goto *to[*pc++];
	OP(1, x += 3); OP(2, x *= 2); OP(3, x ^= 5); OP(4, x -= 1);
	OP(5, x |= 8); OP(6, x = -x); OP(7, x += x); OP(8, x = ~x);
	OP(9, x &= 255); OP(11, x = 0);
op10:
	pc = code;
	if (rounds--)
		goto *to[*pc++];
op0:
	return 0;
}
""",
}

# NAME.tally, and what is counted
RUNS = """
plain      bin/plain 30 12
zero       --libs none bin/zero 9 3
cover      --libs none bin/cover
lines      bin/lines
lines0     --libs none bin/lines0
leave      --libs none bin/leave
all        bin/leave
threads    bin/process threads 4 500
follow     --follow bin/process work 3 tree 2 exec bin/plain 5 2
plugin     --calls bin/calls plugin bin/plugin.so
calls      --calls --libs none bin/calls threads
killed     --calls bin/calls kill
only       --only main,nested --libs none bin/plain 30 12
few        --libs libc.so.6 --only ch*,exi? bin/plain 8 8
vertices   --placement vertices --libs none bin/plain 30 12
redundant  --placement redundant --libs none bin/plain 30 12
twins      --libs none bin/twins
bare       --libs none bin/bare 12 9
static     bin/static 4 4
branches   --libs none bin/branches
bare2      --libs none bin/bare2 12 9
hub        --libs none --calls bin/hub
hub0       --libs none bin/hub
labels     --libs none bin/labels
fault      --libs none bin/fault
p1         --calls bin/calls plugin bin/p.so.1
p2         --calls bin/calls plugin bin/p.so.2
pair       --follow --libs none bin/process work 3 exec bin/alt/process work 5
clang      --libs none bin/clang 30 12
run1       --libs none bin/old/prog 10 6
run2       --libs none bin/old/prog 50 6
run3       --libs none bin/old/prog 50 20
run4       --libs none bin/old/prog 500 7
newer      --libs none bin/new/prog 50 20
lone       --libs none bin/lone 20 5
same       --libs none bin/same 20 5
parted     --libs none bin/parted 20 5
"""

# hand/NAME/profile, of tests/tools/make-profile
HAND = {
    "base": "", "more": "more", "trouble": "trouble more",
    "odd": "contradiction", "lost": "lost", "left": "left",
    "stays": "stays", "wide": "wide 300", "running": "running 1",
}

# what not every machine can make
OPTIONAL = re.compile(r"(bin/)?(else|clang|real)")

# what templates of command lines name; `exact` and `db` are made of DIR
SETS = {
    "by": "image|procedure|line|process|edge|block|instruction|call-site",
    "code": "procedure|edge|block|instruction|call-site",
    "shared": "image|procedure|line|process|block|instruction",
    "dbby": "image|procedure|line|process|instruction|event|epoch",
    "place": "image|procedure|line|instruction",
    "hand": "|".join("hand/%s/profile" % n for n in HAND),
    "form": "tsv|json|callgrind|lcov|gcov|folded|pprof|pixie|autofdo|bolt",
    "dbform": "tsv|json|callgrind|folded|pprof|autofdo",
    "badprofile": "|".join("bad/" + n for n in (
        "empty", "text", "zeros", "short", "half", "bits1", "bits2", "bits3",
        "later", "version", "form", "live", "much", "elf", "link", "folder",
        "none")),
    "baddb": "|".join("bad/db-" + n for n in (
        "empty", "text", "short", "half", "bits", "other")),
    "runs": "run1.tally run2.tally run3.tally",
    "which": "--epoch last|--epoch 2|--epoch 3-6|--epoch=all|"
             "--since 2023-11-18|--until 2023-11-16|"
             "--since 2023-11-16T00:10:03|--until 2023-11-16T12:30|"
             "--since 2023-11-15 --until 2023-11-17|"
             "--event misses|--event cycles|--process cc1|--host *",
}


class Maker:
    """Makes all that is asked about, in a folder."""

    def __init__(self, folder, old):
        self.folder, self.old = folder, old
        self.env = dict(environment(folder), QEMU_LD_PREFIX="/usr/%s-linux-gnu"
                        % OTHER)

    def path(self, name):
        return os.path.join(self.folder, name)

    def call(self, *words, **more):
        p = subprocess.run(words, cwd=self.folder, env=self.env,
                           stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                           **more)
        if p.returncode:
            raise SystemExit("%s: %s" % (" ".join(words), p.stderr.decode()))
        return p.stdout.decode()

    def write(self, name, data):
        path = self.path(name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as f:
            f.write(data if isinstance(data, bytes) else data.encode())

    def read(self, name):
        with open(self.path(name), "rb") as f:
            return f.read()

    def all(self):
        self.sources()
        self.programs()
        self.profiles()
        self.foreign()
        self.record()
        self.changes()
        self.by_hand()
        Databases(self).all()
        self.broken()
        self.words()

    def sources(self):
        """programs are built of copies, which stay as they are"""
        for name in sources_of(PROGRAMS) - set(TEXTS):
            shutil.copy(os.path.join(PROGS, name),
                        self.path("src/" + os.path.basename(name)))
        for name in "branches.h", "progs.h":
            shutil.copy(os.path.join(PROGS, name), self.path("src/" + name))
        for name, text in TEXTS.items():
            self.write("src/" + name, text)

    def build(self, name, isa, cc, words):
        os.makedirs(os.path.dirname(self.path("bin/" + name)), exist_ok=True)
        words = ["src/" + os.path.basename(w) if not w.startswith("-") else w
                 for w in words]
        self.call(*compiler(isa, cc), "-o", "bin/" + name, *words)

    def programs(self):
        for name, cc, *words in table(PROGRAMS):
            if compiler(HOST, cc) or cc != "clang":
                self.build(name, HOST, cc, words)
        shutil.copy(self.path("bin/plain"), self.path("bin/owned"))
        if not os.geteuid():
            os.chown(self.path("bin/owned"), NOBODY, NOBODY)
        self.call("objcopy", "--only-keep-debug", "bin/parted",
                  "bin/parted.debug")
        self.call("objcopy", "--strip-all",
                  "--add-gnu-debuglink=bin/parted.debug", "bin/parted")

    def count(self, name, *words):
        p = subprocess.run([self.old, "count", "--quiet", "-o",
                            name + ".tally", *words], cwd=self.folder,
                           env=self.env, stdout=subprocess.DEVNULL,
                           stderr=subprocess.PIPE, text=True)
        if re.sub(r"tally: process 1 was killed, .*\n", "", p.stderr):
            raise SystemExit("count %s: %s" % (" ".join(words), p.stderr))

    def profiles(self):
        for name, *words in table(RUNS):
            if "bin/clang" not in words or \
                    os.path.exists(self.path("bin/clang")):
                self.count(name, *words)
        self.call(self.old, "merge", "-o", "merged.tally", "run1.tally",
                  "run2.tally", "run3.tally")

    def foreign(self):
        """programs of the other machine, if there is all they need"""
        if not compiler(OTHER, "gcc") or not shutil.which("qemu-" + OTHER):
            return
        for name, *words in (("else", "answers.c", "-O2", "-g"),
                             ("elsecalls", "calls.c", "-O1", "-w",
                              "-pthread")):
            self.build(name, OTHER, "gcc", words)
        self.count("else", "bin/else", "30", "12")
        self.count("elsecalls", "--calls", "--libs", "none", "bin/elsecalls",
                   "plain")

    def record(self):
        """a database that was not made up, if this machine allows it"""
        for program in "plain", "plain", "same":
            subprocess.run([self.old, "record", "--quiet", "-o", "real.db",
                            "bin/" + program, "9000000", "3"],
                           cwd=self.folder, env=self.env,
                           stderr=subprocess.DEVNULL)

    def changes(self):
        """a program that is gone, and one that was built again"""
        os.unlink(self.path("bin/lone"))
        self.build("same", HOST, "gcc", ["answers.c", "-O2", "-g", "-DNEWER"])
        self.count("same2", "--libs", "none", "bin/same", "20", "5")

    def by_hand(self):
        for name, words in HAND.items():
            os.makedirs(self.path("hand/" + name))
            self.call(TOOLS + "/make-profile", self.path("hand/" + name),
                      *words.split())
        shutil.copytree(self.path("hand/base"), self.path("spare"))
        self.call(self.old, "snapshot", "hand/base/profile", "-o",
                  "earlier.snap")
        self.write("names", "main\nch*\n# a comment\n")

    def broken(self):
        whole = self.read("plain.tally")
        live = self.read("hand/base/profile")
        for name, data in (
                ("empty", b""), ("text", b"no profile\n"), ("none", None),
                ("zeros", bytes(100000)), ("short", whole[:1000]),
                ("half", whole[:len(whole) // 2]),
                ("later", changed(whole, 7, 8)), ("live", live[:70000]),
                ("version", whole[:8] + b"\x63" + whole[9:]),
                ("form", whole[:14] + b"\x63" + whole[15:]),
                ("much", too_much(live)),
                ("elf", self.read("bin/plain")[:3000]),
                ("list", b"main\0nested\n")):
            if data is not None:
                self.write("bad/" + name, data)
        for i in 1, 2, 3:
            self.write("bad/bits%d" % i, changed(whole, i, 20, 300 * i))
        os.makedirs(self.path("bad/folder"))
        os.symlink("nowhere", self.path("bad/link"))
        self.broken_databases()

    def broken_databases(self):
        name, = glob.glob(self.path("one.db/*.tallydb"))
        with open(name, "rb") as f:
            whole = f.read()
        for name, data in (
                ("empty", b""), ("text", b"no database\n"),
                ("short", whole[:5000]), ("half", whole[:len(whole) // 2]),
                ("bits", changed(whole, 5, 400, 5000)),
                ("other", whole.replace(b"samples", b"simples"))):
            self.write("bad/db-%s/host.tallydb" % name, data)

    def words(self):
        """what OLD said of its options, and where procedures are"""
        for c in COMMANDS:
            self.write("help/" + c, self.call(self.old, "help", c))
        where = {}
        for program, *_ in table(PROGRAMS):
            if os.path.exists(self.path("bin/" + program)):
                text = self.call("nm", "bin/" + program)
                for at, name in re.findall(r"^(\w+) [tT] (\w+)$", text, re.M):
                    where["%s:%s" % (program, name)] = at
        self.write("addresses", json.dumps(where, indent=1, sort_keys=True))


class Databases:
    """Samples of programs that are there and of others, all made up."""

    def __init__(self, maker):
        self.maker, self.path = maker, maker.path
        self.rng = random.Random(11)
        self.known = {}

    def all(self):
        c = os.path.realpath(self.maker.call(
            *compiler(HOST, "gcc"), "-print-file-name=libc.so.6").strip())
        self.make("one", epoch(5, 9, "work") + "event cycles 1 0\n" +
                  self.program("bin/plain", 9) + self.program("bin/lines", 3) +
                  even(c, 40, 5) + "image 1 [kernel]\nhit 64 5\nhit 4096 7\n"
                  "process 7 plain 90\nprocess 8 lines 70\n")
        self.many(c)
        self.builds()
        self.made()
        self.others()
        for name, where in (("alpha", "many"), ("beta", "many"),
                            ("gamma", "made1")):
            file, = glob.glob(self.path(where + ".db/*.tallydb"))
            os.makedirs(self.path("hosts.db"), exist_ok=True)
            shutil.copy(file, self.path("hosts.db/%s.tallydb" % name))

    def make(self, name, text):
        self.maker.call(TOOLS + "/make-database", self.path(name + ".db"),
                        input=text.encode("utf-8", "surrogateescape"))

    def program(self, name, scale, isa=HOST, weight=lambda name: 1):
        """samples of each of its instructions, more or less"""
        if name not in self.known:
            self.known[name] = code_of(self.path(name), isa)
        text = "image 0 %s\n" % self.path(name)
        for procedure, offsets in self.known[name].items():
            for at in offsets:
                n = self.rng.randrange(scale * 4) * weight(procedure) // 2
                text += "hit %d %d\n" % (at, n) if n else ""
        return text

    def many(self, c):
        """eight days, two loads, two events, all kinds of images"""
        text = ""
        for day in range(8):
            at = START + day * DAY
            text += epoch(at, at + 600 + day, "make-%d" % (day % 3))
            for event, scale in (("cycles", 40 + day), ("misses", 3)):
                text += "event %s %d %d\n" % (event, 60000 * (scale > 3),
                                              day % 2)
                text += self.program(
                    "bin/plain", scale, weight=lambda n: 3
                    if n == "changed" and day > 3 else 2)
                text += self.program("bin/lines", scale) + even(c, 9, scale)
                text += self.kinds(day, scale)
        self.make("many", text)

    def kinds(self, day, scale):
        here = self.known["bin/plain"]["main"]
        return ("image 1 [kernel]\nhit 64 %d\nhit 8192 %d\nimage 2 [ext4]\n"
                "hit 100 %d\nimage 3 [vdso]\nhit 800 2\nimage 4 [memory]\n"
                "hit 140737000000000 3\nimage 5 [unknown]\nhit 0 %d\n"
                "image 0 /gone/lib\tx.so\nhit 4 %d\nhit 4096 1\n"
                "image 0 %s\nhit 64 1\nprocess %d cc1 %d\nprocess 9 sh 4\n"
                "apart cc1\nimage 0 %s\nhit %d %d\nhit %d 6\n"
                "apart sh\nimage 1 [kernel]\nhit 64 2\ntogether\n" %
                (scale, day + 1, 2 * scale, day + 1, scale + day,
                 self.path("bad/text"), 100 + day, 50 * scale,
                 self.path("bin/plain"), here[1], scale, here[4]))

    def builds(self):
        """two builds of a program, and two runs of one that is gone"""
        for name, file in (("before", "old/prog"), ("after", "new/prog")):
            self.make(name, "".join(
                epoch(START + i, START + i + 1, name) +
                "event cycles 100 0\n" + self.program("bin/" + file, 30) +
                "image 1 [kernel]\nhit 64 70\n" for i in range(4)))
        for name, more in (("gone1", 1), ("gone2", 1.3)):
            text = ""
            for i in range(4):
                text += epoch(START + i * DAY, START + i * DAY + 60, "work")
                text += "event cycles 100 0\nimage 0 /gone/prog\n"
                for k in range(60):
                    mean = 60000 / (k + 2) * (more if k == 3 else 1)
                    n = round(self.rng.gauss(mean, mean ** 0.5))
                    text += "hit %d %d\n" % (4 * k, n)
            self.make(name, text)

    def made(self):
        """code that programs made, some of it with odd names"""
        for name, pid, hot in (("made1", 100, 59), ("made2", 200, 417)):
            self.make(name, "".join(
                epoch(1000 * i, 1000 * i + 900, "node") +
                "event cycles 60000 0\nimage 6 [made by node %d]\n"
                "procedure 4096 8192 hotA\nprocedure 8192 9000 hot B\u00e9\n"
                "procedure 9000 9100 a<b>(int) \"\033[1m\\\n"
                "procedure 9100 9200 bad\udcff;name\n"
                "hit 4100 %d\nhit 8200 %d\nhit 9004 8\nhit 9104 30\n"
                "image 6 [made again by node %d]\nprocedure 64 128 hotB\n"
                "hit 70 %d\nprocess %d node %d\n" %
                (pid + i, 10000 - 10 * hot, 5 * hot, pid + i, 5 * hot,
                 pid + i, 10000) for i in (1, 2, 3)))

    def others(self):
        m = self.maker
        text = "".join(epoch(START + i * DAY // 10, START + i * DAY // 10 + 9,
                             "work") + "event cycles 9 0\n" +
                       self.program("bin/zero", 2) + "process 7 zero 9\n"
                       for i in range(30))
        self.make("old", text + "condense %d %d %d\n" % (DAY, 90 * DAY,
                                                         START + 20 * DAY))
        self.make("few", epoch(START, START, "brief") + "event cycles 1 0\n"
                  "image 0 %s\nhit 2048 1\n" % m.path("bin/plain"))
        self.make("none", epoch(START, START + 1, "idle") +
                  "event cycles 1 3\n")
        self.make("strange", epoch(START, START + 1, "x") +
                  "event cycles 1 0\n" + "".join(
                      "image 0 %s\nhit 4096 9\n" % m.path(n) for n in
                      ("bad/elf", "bad/folder", "bad/link", "bin/parted",
                       "bin/bare", "bin/plugin.so")))
        self.make("owned", epoch(START, START + 60, "x") +
                  "event cycles 1 0\n" + self.program("bin/owned", 5))
        self.make("stripped", epoch(START, START + 60, "x") +
                  "event cycles 1 0\n" + self.program("bin/bare", 5) +
                  self.program("bin/parted", 5))
        if os.path.exists(m.path("else.tally")):
            self.make("else", epoch(START, START + 60, "x") +
                      "event cycles 1 0\n" +
                      self.program("bin/else", 5, OTHER))


def table(text):
    return [line.split() for line in text.strip().splitlines()]


def sources_of(text):
    return {w for _, _, *words in table(text) for w in words
            if not w.startswith("-")}


def changed(data, seed, n, first=0):
    """with n of its first bytes overwritten"""
    rng, b = random.Random(seed), bytearray(data)
    for _ in range(n):
        b[rng.randrange(first, min(len(b), first + 400))] = rng.getrandbits(8)
    return bytes(b)


def too_much(live):
    """a counter that is a number alone, but not together with another"""
    b = bytearray(live)
    at = [i for i in range(65536, len(b), 4096)
          if b[i:i + 8] == b"tlychnk1"][1]
    struct.pack_into("<Q", b, at + 4096 + 8 * 5, 2 ** 63)
    return bytes(b)


def epoch(start, end, command):
    return "epoch %d %d %s\n" % (start, end, command)


def load_of(path):
    """(offset, address, size) of the code in a file"""
    text = subprocess.check_output(["readelf", "-lW", path], text=True)
    m = re.search(r"LOAD +(0x\w+) (0x\w+) 0x\w+ (0x\w+) .*R E ", text)
    return [int(m[i], 16) for i in (1, 2, 3)]


def even(path, n, count):
    """samples all over the code of a file"""
    start, _, size = load_of(path)
    step = size // n & ~15
    return "image 0 %s\n" % path + "".join(
        "hit %d %d\n" % (start + i * step, count + i) for i in range(1, n))


def code_of(path, isa):
    """{procedure: offsets of its instructions}, by objdump"""
    start, at, _ = load_of(path)
    text = subprocess.check_output([tool(isa, "objdump"), "-d",
                                    "--no-show-raw-insn", path], text=True)
    found, name = collections.defaultdict(list), ""
    for line in text.splitlines():
        m = re.match(r"(?:[0-9a-f]+ <(.+)>:| +([0-9a-f]+):\t)", line)
        if m and m[1]:
            name = m[1]
        elif m:
            found[name].append(int(m[2], 16) - at + start)
    return found


def make(folder, old):
    os.umask(0o022)
    folder = os.path.abspath(folder)
    if os.path.exists(folder):
        raise SystemExit(folder + ": is there already")
    os.makedirs(os.path.join(folder, "src"))
    Maker(os.path.realpath(folder), os.path.abspath(old)).all()
    shutil.rmtree(os.path.join(folder, "cache"))
    print("%s: %d profiles, %d databases" %
          (folder, len(sources(folder, "tally")), len(sources(folder, "db"))))


# ---------------------------------------------------------- command lines

# {a|b} stands for either, {@NAME} for those of SETS, <PROGRAM:SYMBOL> for
# an address, <bare:hex> for that of a procedure without a name, out/# for a
# file that is written, DIR for the folder; \ goes on in the next line
TEMPLATES = r"""
# report, of profiles
report {|--json} --by {@by} {@exact}
report {|--json} --by {@by} {@hand}
report --by {@by} --all {|--json} {zero|merged|only|leave}.tally
report --all {|--json} hand/{base|odd|stays|left}/profile
report --by {@by} --sort {count|address|name} {|--reverse} {plugin|lines}.tally
report --by {@by} --sort {address|name} --json hand/{base|stays}/profile
report --sort calls {|--reverse} {|--json} {plain|lines|threads|follow}.tally
report --by {@by} --reverse {|--json} {merged|follow}.tally
report --by {@shared} --min {0.5|3|20%|100} {plain.tally|follow.tally|\
    hand/base/profile}
report --by {@by} --limit {0|1|7|100000} {|--json} lines0.tally
report --by {image|line|@code} --image {lines|libc*|*.so*|l?nes|*} lines.tally
report --by {@code} --procedure {main|'work(int)'|work|'shop::*'|'*vector*'|\
    <lines:main>|<lines:main+8>} {|--json} lines.tally
report --by {@code} --procedure {ch*|[mn]*|nested|'*'} --all run3.tally
report --by {@code} --procedure twin {|--json} twins.tally
report --by {@code} --procedure fn_{<bare:hex>} bare.tally
report --by {@code} --image prog --procedure {in*|main|0x2000|0x5000} \
    hand/base/profile
report --by {block|instruction} --procedure main --sort address --all --json \
    {zero|cover|vertices}.tally
report --by block --image plain --min 1 --sort address --reverse --limit 5 \
    {|--json} plain.tally
report --by {@by} {|--json} {@runs}
report --by {@by} hand/base/profile hand/more/profile
report --by={@by} --limit=3 threads.tally
report plain.tally --by block --limit 4 -- plain.tally
report plain.tally --limit 4 --limit 2 --by edge --by block
report -- plain.tally
report {|--json} --by {@by} pair.tally pair.tally
# report, of databases
report {|--json} --by {@dbby} {@db}
report --by {@dbby} {@which} {|--json} many.db
report --by {@dbby} --host {alpha|*a|g?mma} hosts.db
report --by {@dbby} --epoch last --host beta --event misses --json hosts.db
report --by {@place} --image {plain|l*|[kernel]|[[]kernel]|'*'|libc.so.6} \
    many.db
report --by {procedure|instruction} --procedure \
    {main|'shop::*'|'work(int)'|work|_Z4worki|<plain:main>} {|--json} many.db
report --by {@place} --min {1|10|99} {|--json} many.db
report --by {@dbby} --limit {0|2|1000} {|--json} many.db
report --by {@dbby} one.db many.db
report --by {@dbby} {|--json} before.db after.db
report --by procedure --image plain --procedure 'c*' --min 0.1 --limit 2 \
    --epoch 2-5 --event misses {|--json} many.db
TZ=XYZ-5 report --by epoch {|--since 2023-11-15|--until 2023-11-15T03:00} \
    many.db
# annotate
annotate {|--json} {main|nested|choose|changed|gone|never|<plain:main>|\
    <plain:choose+12>} {plain|vertices|redundant}.tally
annotate {|--json} {main|nested|<plain:main>} only.tally
annotate {choose|<plain:choose+12>} only.tally
annotate {|--json} {main|'work(int)'|work|'shop::Sum<long>::often'|_Z4workd} \
    {lines|lines0}.tally
annotate {|--json} {'shop::Sum<long>::often(int)'} lines0.tally
annotate {|--json} {'shop::Sum<long>::often(int)'|\
    'shop::Sum<long>::often(int) [clone .isra.0]'} lines.tally
annotate {|--json} {main|classify|fib|find} cover.tally
annotate {|--json} {dive|'tidy(long)'|again|throws|jumps|handled|handler} \
    {leave|all}.tally
annotate {|--json} {main|work|work_times|tree|exit} {threads|follow}.tally
annotate {|--json} main --image {plain|process} follow.tally
annotate {|--json} {through_table|add|main} {plugin|killed|calls}.tally
annotate {|--json} {each|own} plugin.tally
annotate {|--json} {main|twin|one} twins.tally
annotate {|--json} {nested|main|changed} {run1|run4|merged|newer|lone|same|\
    parted|static}.tally
annotate {|--json} added {newer|run1}.tally
annotate {|--json} {main|odd|dark|never|fn_2000|0x2000} {@hand}
annotate {|--json} partly hand/{stays|base}/profile
annotate {|--json} 0x500 hand/{base|lost}/profile
annotate {|--json} main {hub|hub0|fault|branches|clang|same2}.tally
annotate {|--json} {plain|shown|shared|look} labels.tally
annotate {|--json} {nested|changed} real.db
annotate {|--json} {main|nested} owned.db
annotate {|--json} {main|__libc_start_main|_start|exit} static.tally
annotate {|--json} {fn_<bare:hex>|0x<bare:hex>} bare.tally
annotate {|--json} {nested|choose} {@runs}
annotate {|--json} {__libc_malloc|exit|__libc_start_main|memcpy} --image \
    libc.so.6 {plain|lines}.tally
annotate {malloc|printf} lines.tally
annotate {|--json} main {@foreign}
annotate {|--json} {add|through_table|less} elsecalls.tally
annotate {|--json} {nested|choose} else.tally
annotate {|--json} {main|nested|changed|'work(int)'|<plain:main>} {@which} \
    many.db
annotate {|--json} {main|'shop::Sum<long>::often'} {one|many|hosts}.db
annotate {|--json} {main|nested} {before|after|old|else}.db
annotate {|--json} added after.db
annotate {|--json} main --image {plain|lines} one.db
annotate {|--json} {hotA|hotB|0x40|0x238c} made1.db
annotate {|--json} --image [kernel] {0x40|0x2000} many.db
annotate {|--json} {main|nested} stripped.db
annotate {|--json} 0x0 --image prog gone1.db
PATH=/nowhere annotate {|--json} main {plain.tally|one.db}
# graph
graph --format {svg|html|ps|dot} {|--ran} {main|nested|choose} \
    {plain|run4}.tally
graph --format dot {|--ran} {changed|gone|<plain:main>|never} \
    {vertices|redundant|merged}.tally
graph --format dot {|--ran} {main|nested} {only|newer}.tally
graph --json {|--ran} {main|nested|choose|changed} \
    {plain|zero|merged|lone|same|parted|static|newer}.tally
graph {--json|--format dot} {main|'work(int)'|'shop::Sum<long>::often'|work} \
    {lines|lines0}.tally
graph {--json|--format dot} {|--ran} {dive|'tidy(long)'|throws|jumps|handler} \
    {leave|all}.tally
graph {--json|--format dot} {through_table|main} {plugin|killed|calls}.tally
graph {--json|--format dot} {each|own} plugin.tally
graph {--json|--format dot} {|--ran} {main|odd|dark|fn_2000} {@hand}
graph {--json|--format dot} {|--ran} partly hand/stays/profile
graph {--json|--format dot} {|--ran} 0x500 hand/base/profile
graph {--json|--format dot|--format svg} {|--ran} main \
    {hub|hub0|fault|branches}.tally
graph {--json|--format dot} {plain|shown|shared} labels.tally
graph {--json|--format dot} {nested|changed} real.db
graph {--json|--format dot|--format ps|--format dot -o out/#} nested owned.db
graph {--json|--format dot} {__libc_start_main|exit|_IO_cleanup} static.tally
graph {--json|--format dot} {main|work_times|tree} {threads|follow}.tally
graph {--json|--format dot} main --image {plain|process} follow.tally
graph {--json|--format dot} fn_<bare:hex> bare.tally
graph {--json|--format dot|--format=html} nested {@runs}
graph {--json|--format dot} {__libc_malloc|exit|__libc_start_main} --image \
    libc.so.6 lines.tally
graph {--json|--format dot} main {@foreign}
graph {--json|--format dot} through_table elsecalls.tally
graph {--json|--format dot|--format svg} {main|nested|choose} {one|many}.db
graph {--json|--format dot} {|--ran} main {@which} many.db
graph {--json|--format dot} {main|nested} {before|after|old|stripped|else}.db
graph --format dot main --image {plain|lines} one.db
graph {--format svg|--format html|--format ps|--format dot|--json} -o out/# \
    {main|choose} {plain.tally|one.db}
graph main plain.tally
PATH=/nowhere graph {|--format dot|--json} main {plain.tally|one.db}
# diff, of profiles
diff {|--json} {|--by block|--by edge} {|--all} \
    {run1.tally run2.tally|run3.tally run2.tally|run3.tally newer.tally|\
    newer.tally run1.tally|run1.tally run1.tally}
diff {|--json} {|--by block|--by edge} {plain.tally vertices.tally|\
    merged.tally run4.tally|lone.tally same.tally|same.tally parted.tally|\
    bare.tally run1.tally|zero.tally run2.tally}
diff {|--json} {|--by block|--by edge} {|--all} \
    {hand/base/profile hand/more/profile|hand/base/profile hand/odd/profile|\
    hand/left/profile hand/stays/profile}
diff {|--json} {lines.tally lines0.tally|leave.tally all.tally|\
    threads.tally follow.tally|plugin.tally calls.tally|\
    calls.tally killed.tally|twins.tally cover.tally|static.tally plain.tally|\
    only.tally redundant.tally}
diff {|--json} --by {procedure|block|edge} --procedure \
    {main|changed|nested|<old/prog:main>} {run1.tally run4.tally|\
    run3.tally newer.tally}
diff {|--json} --by {procedure|block|edge} --min {0.1|5|60} \
    {run1.tally run4.tally|run3.tally newer.tally}
diff {|--json} --by {procedure|block|edge} --limit {0|1|4} run3.tally \
    newer.tally
diff {|--json} --image prog {--all|} run1.tally newer.tally
diff --by {procedure|block} --image libc.so.6 --all --limit 20 plain.tally \
    lines.tally
diff {|--json} {@foreign} plain.tally
diff {|--json} {|--by block|--by edge} {|--all} \
    {bare.tally bare2.tally|hub.tally hub0.tally|same.tally same2.tally}
diff {|--json} {|--by block} {p1.tally p2.tally|plugin.tally p1.tally|\
    pair.tally follow.tally|fault.tally hub.tally|labels.tally branches.tally}
# diff, of databases
diff {|--json} --by {@place} {|--all} {before.db after.db|gone1.db gone2.db|\
    made1.db made2.db|one.db many.db}
diff {|--json} --by {@place} --epoch 1-4 --against 5-8 {|--all} many.db
diff {|--json} --epoch {1|1-3} --against {last|8|5-6} {|--event misses} many.db
diff {|--json} --fdr {0.1|5|50%} --by instruction gone1.db gone2.db
diff {|--json} {--min 1|--min 30|--limit 1|--limit 0|--image prog|\
    --image [kernel]} --all before.db after.db
diff {|--json} --procedure {main|changed|added} {|--all} before.db after.db
diff {|--json} --all {@which} many.db many.db
diff {|--json} --all {few.db one.db|real.db one.db|old.db owned.db}
diff {|--json} --all --epoch 1 --against 2 real.db
diff {|--json} --all --host {alpha|beta} hosts.db hosts.db
diff {|--json} --all --epoch last --against 1 --since 2023-11-14 --until \
    2023-11-30 hosts.db
# stats
stats {|--json} --by {image|procedure|line} {@runs}
stats {|--json} {|--by line} {run1.tally newer.tally|\
    run1.tally run2.tally run3.tally run4.tally newer.tally|\
    twins.tally twins.tally}
stats {|--json} --by {image|procedure} {plain.tally lines.tally|\
    leave.tally all.tally|threads.tally follow.tally|\
    vertices.tally redundant.tally only.tally}
stats {|--json} --by {image|procedure} {hand/base/profile hand/odd/profile|\
    hand/base/profile hand/more/profile hand/trouble/profile|\
    hand/left/profile hand/lost/profile}
stats {|--json} {--min 1|--min=10%|--limit 2|--limit 0|\
    --min 1 --limit 3 --by image} {@runs}
stats {|--json} --by {image|procedure|line} {many|before|gone1|made1|old|\
    hosts}.db
stats {|--json} --epoch last hosts.db
stats {|--json} --by {image|procedure|line} real.db
stats {|--json} {p1.tally p2.tally|bare.tally bare.tally|\
    pair.tally pair.tally|same.tally same2.tally}
stats {|--json} --by {image|procedure|line} {before.db after.db|\
    one.db many.db|gone1.db gone2.db one.db}
stats {|--json} {--epoch 1-3|--epoch 2-8|--epoch all|--since 2023-11-18|\
    --until 2023-11-16|--event misses|--host *|--process cc1|--min 5|\
    --limit 3|--event misses --epoch 5-8 --by line} many.db
# export
export --format {@form} {@exact}
export --format {tsv|json|callgrind|folded|pprof|pixie} {@hand}
export --format {lcov|gcov|autofdo|bolt} hand/{base|left}/profile
export --format {@form} {@runs}
export --format=bolt --image {libc.so.6|plain} plain.tally
export --format bolt --image {calls|plugin.so|libc.so.6} plugin.tally
export --format bolt --image {DIR/bin/process|DIR/bin/alt/process|process} \
    pair.tally
export --format bolt --image {prog|libz.so.1|libz} hand/{base|lost}/profile
export --format {@dbform} {@db}
export --format {@dbform} {@which} many.db
export --format {@dbform} --host {alpha|gamma} hosts.db
export --format {@dbform} one.db before.db
# merge and snapshot
merge -o out/# {@runs}
merge -o out/# {plain.tally|lines.tally|follow.tally|plugin.tally|\
    hand/base/profile|hand/trouble/profile}
merge -o out/# {run1.tally run4.tally|merged.tally run4.tally|\
    merged.tally run1.tally|hand/base/profile hand/more/profile|\
    hand/lost/profile hand/base/profile|plain.tally plain.tally|\
    follow.tally follow.tally} && report {|--json} --by \
    {procedure|process|call-site} out/#
merge -o out/# {@runs} && {annotate nested|graph --format dot nested|\
    export --format json|export --format tsv} out/#
merge -o out/# run1.tally && merge -o out/# out/# run2.tally && report --by \
    process out/#
snapshot -o out/# {@hand}
snapshot {plain|merged|follow}.tally -o out/#
snapshot -o out/# hand/{base|more|trouble|running|wide}/profile && report \
    {|--json} --by {procedure|process|block} out/#
snapshot hand/more/profile --minus earlier.snap -o out/# && \
    {report|report --by instruction|export --format json} out/#
snapshot hand/more/profile --minus=hand/base/profile -o out/# && report out/#
snapshot -o out/# -- plain.tally
snapshot spare/profile && report spare/profile.snapshot
# cfg
cfg {|--json} bin/{plain|zero|cover|lines|lines0|leave|calls|plugin.so|\
    process|switch.so|branches|bare|static|old/prog|parted|else|elsecalls}
cfg {|--json|--dot} bin/{plain|zero|static|else} {main|nested|choose}
cfg {|--json|--dot} bin/{plain|bare} 0x<bare:hex>
cfg bin/plain strtol@plt
cfg bin/static _exit
cfg bin/bare {main|fn_<bare:hex>}
cfg {|--json|--dot} bin/switch.so {dense|machine|huge|<switch.so:switch_all>}
cfg {|--json|--dot} bin/branches {main|choose|walk}
cfg {|--json|--dot} bin/{lines|lines0} {main|_Z4worki}
cfg bin/lines 'work(int)'
cfg {|--json|--dot} bin/leave {_ZL4divel|_ZL6throwsv|main}
cfg {|--json|--dot} bin/calls {through_table|main}
cfg {|--json|--dot} bin/{hub|labels} main
cfg {|--json|--dot} bin/labels {plain|shown|shared|stored}
cfg {|--json|--dot} bin/static {abort|__libc_start_main|exit|_start}
cfg {|--json} bin/{hub|labels|fault|clang}
cfg bin/twins
cfg bin/twins {twin|one} {|--dot}
cfg -- bin/plain main
# instrument
instrument {|--json} bin/{plain|lines|plugin.so|bare|static|else} -o out/#
instrument --json --placement {edges|vertices|vertex-edges|redundant|none|\
    poison} bin/calls -o out/#
instrument --json {--weights heuristic|--weights run1.tally|\
    --weights plain.tally|--calls|--after-calls|--trap-unexpected|--strict|\
    --only main|--only ch*,main|--only @names} bin/plain -o out/#
instrument {--weights lone.tally|--weights bad/text|--weights bad/none|\
    --weights nobody|--only nobody|--only @bad/none|--only @bad/list|\
    --only ''|--placement somewhere|--calls --placement none|\
    --strict --placement none} bin/plain -o out/#
instrument {|--strict} {bad/text|bad/elf|bad/none|bad/folder|plain.tally|\
    bad/empty} -o out/#
instrument {bin/plain|-o out/#|bin/plain bin/zero -o out/#|\
    --wrong bin/plain -o out/#|bin/plain -o /nowhere/x|bin/plain -o bin/plain|\
    bin/plain -o}
instrument -o out/# bin/plain && instrument out/# -o out/#.again
# terminals
TERM=xterm report --by {@by} {plain|follow|plugin}.tally
TERM=xterm report --by {@by} hand/{base|odd|left}/profile
TERM=xterm report --by {@dbby} {many|made1}.db
TERM={xterm NO_COLOR=1|xterm NO_COLOR=|dumb|''} \
    {report plain.tally|annotate main one.db|cfg bin/switch.so}
TERM=xterm annotate {main|nested} {plain.tally|only.tally|one.db}
TERM=xterm annotate {main|odd|dark} hand/{base|odd|stays}/profile
TERM=xterm graph {--format dot|--format svg|--json} main {plain.tally|one.db}
TERM=xterm diff {|--all|--by block|--by edge} {run1.tally run4.tally|\
    run3.tally newer.tally|hand/base/profile hand/odd/profile}
TERM=xterm diff {|--all} {before.db after.db|gone1.db gone2.db}
TERM=xterm stats {|--by image} {@runs}
TERM=xterm stats {many.db|before.db after.db|\
    hand/base/profile hand/odd/profile}
TERM=xterm cfg bin/{plain|branches} {|main}
TERM=xterm cfg bin/bare
TERM=xterm cfg bin/switch.so {|switch_all}
TERM=xterm export --format {tsv|folded|pprof} plain.tally
TERM=xterm instrument bin/plain -o out/#
TERM=xterm {report --wrong|report bad/text|stats|help|report --help}
# misuse
{|help|--help|-h|--version|version|nothing|help nothing|help help}
help {@command}
{@command} {--help|-h}
{@command}
{@command} {--wrong|-x|--json=1|--limit|--by} plain.tally
{report|export --format tsv|annotate main|graph --format dot main|\
    merge -o out/#|snapshot -o out/#} {@badprofile}
{report|export --format tsv|annotate main|graph --format dot main|stats} \
    {@baddb}
{stats|diff} plain.tally {@badprofile}
{report|stats|export --format tsv} bad/much bad/much
{report|report --by image|report --by process --json|export --format json|\
    stats hand/base/profile|diff hand/base/profile} bad/much
diff {@baddb} one.db
{report|stats|export --format json|annotate main|graph main|diff} \
    {plain.tally one.db|run1.tally bad/none|one.db bad/folder}
{report|annotate main|graph --format dot main|export --format tsv|stats|diff} \
    {--epoch 1|--since 2023-11-14|--event cycles|--host x|--process x} \
    run1.tally run2.tally
{report|annotate main|export --format tsv} {run1.tally newer.tally|\
    run1.tally vertices.tally|run1.tally lines.tally|\
    run1.tally hand/base/profile}
merge -o out/# {same.tally same2.tally|plain.tally vertices.tally|\
    only.tally vertices.tally|bad/much bad/much|run1.tally newer.tally|\
    run1.tally vertices.tally|run1.tally lines.tally|one.db|run1.tally one.db|\
    hand/lost/profile hand/lost/profile}
{report|annotate main|graph --format dot main|stats|export --format tsv|\
    diff many.db} {--epoch 0|--epoch 9|--epoch 3-2|--epoch x|\
    --since yesterday|--until 2023|--since 2199-01-01|--host nobody|\
    --event nothing|--process nobody|--epoch} many.db
report {--by nothing|--by|--sort nothing|--sort calls --by block|--min x|\
    --min -1|--min 101|--limit x|--limit -1|--limit 99999999999999999999|\
    --min 1 --by edge|--procedure main --by image|--image plain --by process|\
    --by event|--by epoch|--image nobody|--procedure nobody|--procedure 0x1|\
    --image ''} plain.tally
report {--all|--sort name|--reverse|--by edge|--by block|--by call-site|\
    --image nobody|--procedure nobody|--procedure main --by line|--min x} \
    many.db
{annotate|graph --format dot} {nobody|0x1|0xzz|''|--image nobody main|\
    --image plain malloc} {plain.tally|many.db}
{annotate|graph} {main|--wrong main plain.tally|main bad/none}
graph {--format gif|--format|-o|-o ''|-o /nowhere/x} main plain.tally
graph {--json|--format dot} {--image [kernel] 0x40|--image [unknown] 0x0|\
    hotA} {many|made1}.db
diff {plain.tally|plain.tally plain.tally plain.tally|\
    --by line run1.tally run2.tally|--against 2 run1.tally run2.tally|\
    --fdr 5 run1.tally run2.tally|--by process run1.tally run2.tally|\
    --image nobody run1.tally run2.tally|\
    --procedure nobody run1.tally run2.tally|--min x run1.tally run2.tally|\
    --limit x run1.tally run2.tally|--wrong run1.tally run2.tally}
diff {many.db|--against 2 many.db one.db|--by edge before.db after.db|\
    --by block before.db after.db|--by process before.db after.db|\
    --fdr 0 before.db after.db|--fdr x before.db after.db|\
    --image nobody before.db after.db|--epoch 1 --against 9 many.db|\
    --against x many.db|--against|--epoch 1 --against 2 none.db|none.db one.db}
stats {plain.tally|--by block run1.tally run2.tally|--by edge many.db|\
    --min x run1.tally run2.tally|--limit x run1.tally run2.tally|\
    run1.tally hand/base/profile|--epoch 1 many.db|one.db|none.db|few.db|\
    none.db one.db}
export {plain.tally|--format|--format nothing plain.tally|--format tsv|\
    --format tsv --image plain plain.tally|\
    --format bolt --image nobody plain.tally|\
    --format bolt --image ld-linux plain.tally|--format bolt nothing.tally}
export --format {lcov|gcov|pixie|bolt} {one|many}.db
merge {-o out/#|plain.tally|-o '' plain.tally|-o /nowhere/x plain.tally|\
    -o hand/base/profile hand/base/profile|-o bad/folder plain.tally|-o}
snapshot {plain.tally -o plain.tally|hand/base/profile -o hand/base/profile|\
    plain.tally run1.tally|plain.tally -o ''|plain.tally -o /nowhere/x|\
    run2.tally --minus lines.tally -o out/#|\
    hand/base/profile --minus hand/more/profile -o out/#|\
    plain.tally --minus bad/none -o out/#|one.db -o out/#}
cfg {bin/plain nobody|bin/plain 0x1|bin/plain 0xzz|bin/twins twin --json|\
    bin/plain --dot|bin/plain main --json --dot|bin/plain a b|\
    --wrong bin/plain|bad/text|bad/elf|bad/none|bad/folder|bad/empty|\
    plain.tally|one.db|bin/plain ''}
"""


def sources(folder, ending):
    return sorted(os.path.basename(p) for p in
                  glob.glob(os.path.join(folder, "*." + ending)))


def sets_of(folder):
    """SETS, and those that tell of what was made"""
    exact, names = sources(folder, "tally"), dict(SETS)
    names["exact"] = "|".join(exact)
    names["foreign"] = "|".join(n for n in exact if n.startswith("else"))
    names["db"] = "|".join(sources(folder, "db"))
    names["command"] = "|".join(COMMANDS)
    return names


def one_of(words, names):
    """'a|@b' as a list, or none if a set is empty"""
    found = []
    for word in words.split("|"):
        if word.startswith("@"):
            found += filter(None, names[word[1:]].split("|"))
        else:
            found.append(word)
    return found


def templates():
    """those lines of TEMPLATES that are no comment"""
    text = re.sub(r"\\\n *", "", TEMPLATES.strip())
    return [line for line in text.splitlines() if not line.startswith("#")]


def expand(template, names):
    """all lines that a template stands for"""
    parts = re.split(r"\{([^}]*)\}", template)
    ways = [one_of(p, names) if i % 2 else [p] for i, p in enumerate(parts)]
    return ["".join(way) for way in itertools.product(*ways)]


class Lines:
    """The command lines of a folder, in their order."""

    def __init__(self, folder):
        self.folder = folder
        self.names = sets_of(folder)
        with open(os.path.join(folder, "addresses")) as f:
            self.addresses = json.load(f)

    def address(self, m):
        if m[2] == "hex":
            return self.nameless()
        at = int(self.addresses["%s:%s" % (m[1], m[2])], 16)
        return "%#x" % (at + int(m[3] or 0))

    def nameless(self):
        """where main is in bin/bare: bin/plain is the same with symbols"""
        return self.addresses["plain:main"].lstrip("0")

    def whole(self, line, number):
        """words of templates are short; these are of the shell"""
        line = re.sub(r"<([\w./]+):(\w+)(\+\d+)?>", self.address, line)
        line = line.replace("#", "%04d" % number)
        line = line.replace("DIR/", self.folder + "/")
        words = shlex.split(line)
        at = next((i for i, w in enumerate(words)
                   if not re.match(r"[A-Z_]+=", w)), len(words))
        words.insert(at, "tally")
        words = [x for w in words for x in
                 (["&&", "tally"] if w == "&&" else [w])]
        return words

    def there(self, words):
        """is all that was made for it there?"""
        return not any(OPTIONAL.match(w) and not os.path.exists(
            os.path.join(self.folder, w)) for w in words)

    def all(self):
        seen, found = set(), []
        for template in templates():
            for line in expand(template, self.names):
                words = self.whole(line, len(found) + 1)
                key = self.whole(line, 0)
                if self.there(words) and tuple(key) not in seen:
                    seen.add(tuple(key))
                    found.append(words)
        return found


def command_of(words):
    """'report' of a line, or 'others'"""
    word = words[words.index("tally") + 1:][:1]
    return word[0] if word and word[0] in COMMANDS else "others"


def said(words):
    """shell-quoted; what is between steps and in front is for the shell"""
    return " ".join(w if w == "&&" else
                    re.sub(r"^([A-Z_]+=)(.*)", lambda m: m[1] +
                           (shlex.quote(m[2]) if m[2] else ""), w)
                    if re.match(r"[A-Z_]+=", w) else shlex.quote(w)
                    for w in words)


def steps_of(words):
    """[(environment, words)] of each step of a line"""
    found, more = [], {}
    while words and words[0] != "tally":
        name, _, value = words[0].partition("=")
        more[name] = value
        words = words[1:]
    for end, step in itertools.groupby(words, lambda w: w == "&&"):
        if not end:
            found.append((more, list(step)[1:]))
    return found


def promised(text):
    """(option, value) of a help text; a value that is not named is None"""
    for option, value in re.findall(r"^  (--?[\w-]+)(?: (\S+))?", text, re.M):
        yield option, None
        for v in value.split("|"):
            if re.fullmatch(r"[a-z][a-z-]*|@FILE", v):
                yield option, v.replace("@FILE", "@")


def used(lines):
    """{command: {(option, value)}}"""
    found = collections.defaultdict(set)
    for words in lines:
        for _, step in steps_of(words):
            for word, after in zip(step, step[1:] + [""]):
                option, eq, value = word.partition("=")
                value = value if eq else after
                found[step[0] if step else ""] |= {
                    (option, None), (option, value), (option, value[:1])}
    return found


def unused(folder, lines):
    """what the help texts promise and nobody asks for"""
    there, bad = used(lines), []
    for c in COMMANDS:
        with open(os.path.join(folder, "help", c)) as f:
            wanted = [*promised(f.read()), ("--help", None), ("-h", None)]
        bad += ["%s %s %s" % (c, option, value or "") for option, value in
                wanted if (option, value) not in there[c]]
    return bad


def list_all(folder):
    lines = Lines(folder).all()
    for words in lines:
        print(said(words))
    bad = unused(folder, lines)
    for text in bad:
        print("same_answers: never used: " + text, file=sys.stderr)
    return 1 if bad else 0


# ------------------------------------------------------------------- runs

def environment(folder):
    return {"PATH": "/usr/bin:/bin", "LC_ALL": "C", "TZ": "UTC",
            "HOME": folder, "XDG_CACHE_HOME": os.path.join(folder, "cache")}


def on_terminal(words, **more):
    """(status, output, messages) of a command whose output is a terminal"""
    ours, theirs = os.openpty()
    tty.setraw(theirs)
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("4H", 24, 80, 0, 0))
    with tempfile.TemporaryFile() as err:
        p = subprocess.Popen(words, stdout=theirs, stderr=err, **more)
        os.close(theirs)
        out, late = b"", threading.Timer(PATIENCE, p.kill)
        late.start()
        try:
            while True:
                piece = os.read(ours, 65536)
                if not piece:
                    break
                out += piece
        except OSError:  # the other side is closed
            pass
        os.close(ours)
        status = p.wait()
        late.cancel()
        err.seek(0)
        return status, out, err.read()


def in_pipe(words, **more):
    try:
        p = subprocess.run(words, stdout=subprocess.PIPE,
                           stderr=subprocess.PIPE, timeout=PATIENCE, **more)
    except subprocess.TimeoutExpired:
        return TIMED_OUT, b"", b""
    return p.returncode, p.stdout, p.stderr


def kept(data):
    """as it is stored"""
    return {"sha256": hashlib.sha256(data).hexdigest(), "bytes": len(data),
            "text": data.decode("utf-8", "surrogateescape")}


def written(folder, words):
    """names of files that a line may leave behind"""
    names = [w for w in words if w.startswith("out/")]
    names += [w + ".snapshot" for w in words if w == "spare/profile"]
    return [os.path.join(folder, n) for n in dict.fromkeys(names)]


def take(path, keep):
    """what is in a file that was written, if it is no text the hash alone;
    removes it"""
    with open(path, "rb") as f:
        data = f.read()
    os.unlink(path)
    found = kept(data)
    if b"\0" in data:
        del found["text"]
    return found if keep else None


class Runner:
    def __init__(self, folder, binary):
        self.folder, self.binary = folder, binary

    def step(self, more, words):
        env = {**environment(self.folder), **more}
        way = on_terminal if "TERM" in more else in_pipe
        return way([self.binary, *words], cwd=self.folder, env=env,
                   stdin=subprocess.DEVNULL)

    def line(self, words):
        steps, out, err, status = steps_of(words), b"", b"", 0
        for more, step in steps:
            status, some, said_too = self.step(more, step)
            out, err = out + some, err + said_too
            if status:
                break
        files = {os.path.basename(p): take(p, len(steps) == 1)
                 for p in written(self.folder, words) if os.path.isfile(p)}
        return {"line": said(words), "command": command_of(words),
                "status": status, "stdout": kept(out), "stderr": kept(err),
                "files": files}


def tree_of(folder):
    """{name: hash} of all that is in a folder"""
    found = {}
    for here, folders, names in os.walk(folder):
        folders[:] = [f for f in folders if f not in ("out", "cache")]
        for name in names:
            path, data = os.path.join(here, name), b""
            if os.path.isfile(path):
                with open(path, "rb") as f:
                    data = f.read()
            found[os.path.relpath(path, folder)] = \
                hashlib.sha256(data).hexdigest()
    return found


def print_of(tree):
    return hashlib.sha256(json.dumps(tree, sort_keys=True).encode()
                          ).hexdigest()


def is_answer(r):
    """not an error, and something is said or written"""
    good = r["status"] == 0 or (r["status"] == 1 and r["command"] == "diff")
    return good and bool(r["stdout"]["text"] or r["files"])


def run_all(folder, binary, out):
    os.nice(10)
    lines = Lines(folder).all()[::int(os.environ.get("EVERY", "1"))]
    began = time.monotonic()
    before = tree_of(folder)
    shutil.rmtree(os.path.join(folder, "out"), ignore_errors=True)
    os.makedirs(os.path.join(folder, "out"))
    runner, n = Runner(folder, binary), collections.Counter()
    answered = collections.Counter()
    with ThreadPoolExecutor(JOBS) as pool, gzip.open(out, "wt") as f:
        f.write(json.dumps({"folder": folder, "print": print_of(before),
                            "lines": len(lines)}) + "\n")
        for r in pool.map(runner.line, lines):
            f.write(json.dumps(r) + "\n")
            n[r["command"]] += 1
            answered[r["command"]] += is_answer(r)
    shutil.rmtree(os.path.join(folder, "out"))
    shutil.rmtree(os.path.join(folder, "cache"), ignore_errors=True)
    for c in sorted(n):
        print("# %5d command lines of %s, %d answered" %
              (n[c], c, answered[c]))
    print("# %.0f seconds" % (time.monotonic() - began))
    after = tree_of(folder)
    return judge_run(sum(n.values()), sum(answered.values()),
                     sorted(k for k in {**before, **after}
                            if before.get(k) != after.get(k)))


def judge_run(n, answered, other):
    tap = Tap()
    tap.ok(100 * answered >= ANSWERED * n, "%d of %d command lines were "
           "answered (%.1f %%)" % (answered, n, 100 * answered / n))
    tap.none(other, "all that was asked about is as it was")
    print("1..%d" % tap.n)
    return 1 if tap.failed else 0


# ------------------------------------------------------------ comparisons

SHOWN = 30  # differences that are shown, and lines of each
WIDE = 150


def readable(text):
    """lines for people, of any output"""
    if text.startswith("\x1f\udc8b"):
        try:
            data = gzip.decompress(text.encode("utf-8", "surrogateescape"))
            text = "\n".join(repr(b)[2:-1] for b in
                             re.findall(rb"[ -~]+|[^ -~]+", data))
        except (OSError, EOFError):
            pass
    if any(len(line) > 500 for line in text.splitlines()):
        text = text.replace(",", ",\n")
    return [repr(line)[1:-1] for line in text.splitlines()]


def difference(a, b):
    """of two texts, a bounded one"""
    a, b = readable(a), readable(b)
    first = next((i for i, (x, y) in enumerate(zip(a, b)) if x != y),
                 min(len(a), len(b)))
    first = max(0, first - 2)
    found = list(difflib.unified_diff(a[first:first + 200],
                                      b[first:first + 200], lineterm="", n=2))
    return [line[:WIDE] for line in found[2:SHOWN]]


def differences(a, b):
    """lines that say how two results differ; none if they do not"""
    found = []
    if a["status"] != b["status"]:
        found.append("status %d, then %d" % (a["status"], b["status"]))
    both = [(name, a[name], b[name]) for name in ("stdout", "stderr")]
    both += [(name, a["files"].get(name), b["files"].get(name))
             for name in sorted({**a["files"], **b["files"]})]
    for name, x, y in both:
        if x == y:
            continue
        found.append(name + ":")
        if x and y:
            found += difference(x.get("text", ""), y.get("text", ""))
        else:
            found.append("is only %s" % ("before" if x else "after"))
    return found


def expectations(path):
    """[(regular expression, reason)]"""
    found = []
    if path:
        with open(path) as f:
            for number, line in enumerate(f, 1):
                text, _, reason = line.rstrip("\n").partition("\t")
                if not text or text.startswith("#"):
                    continue
                if not reason.strip():
                    raise SystemExit("%s:%d: no reason" % (path, number))
                found.append((re.compile(text), reason.strip()))
    return found


class Results:
    """What a run left: its first line, and the others one by one."""

    def __init__(self, path):
        self.file = gzip.open(path, "rt")
        self.head = json.loads(next(self.file))

    def __iter__(self):
        return map(json.loads, self.file)


class Comparison:
    def __init__(self, expected):
        self.expected, self.met = expected, collections.Counter()
        self.n, self.bad = collections.Counter(), collections.Counter()
        self.shown = 0

    def reason(self, line):
        return next((i for i, (e, _) in enumerate(self.expected)
                     if e.search(line)), None)

    def take(self, a, b):
        self.n[a["command"]] += 1
        why = differences(a, b)
        if not why:
            return
        i = self.reason(a["line"])
        if i is not None:
            self.met[i] += 1
            return
        self.bad[a["command"]] += 1
        print("# differs: " + a["line"])
        self.shown += 1
        for text in why if self.shown <= SHOWN else []:
            print("#   " + text)

    def judge(self, tap):
        for c in sorted(self.n):
            tap.ok(not self.bad[c], "%s: %d command lines, %d differ" %
                   (c, self.n[c], self.bad[c]))
        for i, (e, reason) in enumerate(self.expected):
            print("# %d differ as expected: %s (%s)" %
                  (self.met[i], e.pattern, reason))


def compare(first, second, expected=None):
    tap, a, b = Tap(), Results(first), Results(second)
    c = Comparison(expectations(expected))
    tap.ok(a.head == b.head, "both asked the same of the same",
           [a.head, b.head])
    whole = 0
    for x, y in zip(a, b) if a.head == b.head else ():
        if x["line"] != y["line"]:
            break
        c.take(x, y)
        whole += 1
    tap.ok(whole == a.head["lines"], "and all of it")
    c.judge(tap)
    print("1..%d" % tap.n)
    return 1 if tap.failed else 0


def main(words):
    if len(words) == 3 and words[0] == "make":
        return make(*words[1:])
    if len(words) == 2 and words[0] == "list":
        return list_all(os.path.realpath(words[1]))
    if len(words) == 4 and words[0] == "run":
        return run_all(os.path.realpath(words[1]), os.path.abspath(words[2]),
                       words[3])
    if words[:1] == ["compare"] and (len(words) == 3 or len(words) == 5 and
                                     words[3] == "--expect"):
        return compare(words[1], words[2], *words[4:])
    print(__doc__, file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
