#!/usr/bin/env python3
"""
count-ends: threads that end in the middle of a block. tests/progs/count/ends.c
ends in all ways; the counts are those of qemu (tests/lib/qemu-ends.c) or, on
the machine itself, of a debugger's steps (tests/tools/step-counts.c), or what
the program itself stored in a file up to that moment, and nobody notices that
tally was there.

An instruction ran if it was completed: one that faults did not, though qemu
has begun it. So where a program faults, qemu has one more there.
"""
import collections
import concurrent.futures
import glob
import os
import random
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, "tests/lib")
from rewrite_run import *

tap = Tap()
TALLY = os.path.abspath(TALLY)
ISAS = ["aarch64"] + ["x86_64"] * (HOST == "x86_64")
STEPS = os.path.abspath(os.path.join(os.path.dirname(TALLY),
                                     "tools/step-counts"))
SOURCE = "tests/progs/count/ends.c"
KILLED, MOVING, LOST = "was killed", "other threads ran", "cannot be told"
ENDS = (0, 14, 128 + 11, 128 + 14) # of what a timer ends
RUNS = int(os.environ.get("COUNT_ENDS", "6"))


class Build:
    """A build of ends.c: its marks, and where nothing is measured."""

    def __init__(self, name, *flags):
        os.makedirs(os.path.join(where, ISA), exist_ok=True)
        self.name, self.file = name, os.path.join(where, ISA, name)
        run(*compiler(ISA, "gcc"), "-w", *flags, "-o", self.file, SOURCE,
            "-lpthread")
        self.plt, _, size = self.section(".plt")
        self.plt_end = self.plt + (size if "-no-pie" in flags else 32)
        self.own = "-static" in flags
        self.code = self.functions() if self.own else None

    def section(self, name):
        """(address, offset, size)"""
        for line in run(tool(ISA, "readelf"), "-SW", self.file).splitlines():
            w = line.replace("[ ", "[").split()
            if len(w) > 5 and w[1] == name:
                return tuple(int(x, 16) for x in w[3:6])
        return (0, 0, 0)

    def marks(self):
        """{number: addresses of instructions that store}"""
        addr, offset, size = self.section(".marks")
        data = open(self.file, "rb").read()
        out = collections.defaultdict(list)
        for i in range(0, size, 8):
            d, n = struct.unpack_from("<ii", data, offset + i)
            out[n].append(addr + i + d)
        return out

    def functions(self):
        """Ranges of the source's own functions."""
        run(*compiler(ISA, "gcc"), "-w", "-O2", "-c", "-o", self.file + ".o",
            SOURCE)
        own = {n for _, _, n in Names.read(ISA, self.file + ".o")}
        return [(a, a + n) for a, n, name in Names.read(ISA, self.file)
                if name in own]

    def compared(self, address):
        if self.own:
            return any(s <= address < e for s, e in self.code)
        # stubs of the linker that stay in place: the first one, or all
        return not self.plt <= address < self.plt_end

    def faults(self, address):
        """Whether the instruction may: it uses memory, or traps."""
        text = run(tool(ISA, "objdump"), "-d", "--start-address=%d" % address,
                   "--stop-address=%d" % (address + 4), self.file)
        word = text.splitlines()[-1].split("\t")[2]
        return word.startswith(("ld", "st", "brk"))


def environment(here, **more):
    return {"PATH": "/usr/bin:/bin", "LANG": "C", "HOME": here,
            "XDG_CACHE_HOME": where + "/cache",
            "QEMU_LD_PREFIX": "/usr/%s-linux-gnu" % ISA, **more}


def oracle(build, here, words):
    """(status, output, {address: count}) of the original."""
    plugin = "%s/qemu-ends.so,out=%s/ran,exe=%s" % (where, here, build.file)
    before = [STEPS, here + "/ran"] if ISA == HOST else \
        ["qemu-" + ISA, "-singlestep", "-plugin", plugin]
    p = subprocess.Popen([*before, build.file, *words], env=environment(here),
                         cwd=here, stdin=subprocess.DEVNULL,
                         stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                         text=True, preexec_fn=alone)
    out = finish(p)[0]
    ran = collections.Counter()
    for name in glob.glob(here + "/ran.*") if ISA == HOST else ():
        for line in open(name):
            w = line.split("\t")
            if w[1] == build.file:
                ran[int(w[2], 16)] += int(w[5])
        os.remove(name)
    for name in glob.glob(here + "/ran.*"):
        for first, last, n in struct.iter_unpack(
                "<QQQ", open(name, "rb").read()):
            for a in range(first, last + 4, 4) if n else ():
                ran[a] += n
        os.remove(name)
    return p.returncode, out, ran


def tally_count(build, here, words, *options, **env):
    """(status, output, notes) of a counted run."""
    p = subprocess.Popen([TALLY, "count", "-o", here + "/profile", *options,
                          build.file, *words], env=environment(here, **env),
                       cwd=here, stdin=subprocess.DEVNULL, text=True,
                       stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                       preexec_fn=alone)
    out, err = finish(p)
    notes = [l for l in err.splitlines() if l.startswith("tally: ")]
    return p.returncode, out, notes


def finish(p):
    """The output of a process; none of its group hangs longer than it may."""
    try:
        return p.communicate(timeout=SECONDS)
    except subprocess.TimeoutExpired:
        os.killpg(p.pid, signal.SIGKILL)
        return p.communicate()


def told(build, here):
    out = collections.Counter()
    for line in run(TALLY, "export", "--format", "tsv",
                    here + "/profile").splitlines():
        image, address, n = line.split("\t")
        if image == build.name:
            out[int(address, 16)] = int(n)
    return out


def differences_of(build, want, got, faults):
    """Complaints about counts; a fault: one that qemu has begun only."""
    bad = {a: (want[a], got[a]) for a in set(want) | set(got)
           if want[a] != got[a] and build.compared(a)}
    begun = [a for a, (w, g) in bad.items()
             if w == g + 1 and build.faults(a)]
    if ISA == HOST:
        pass
    elif faults and begun:
        del bad[begun[0]]
    elif faults:
        return ["no instruction was begun and not completed"]
    return ["%#x: %d, want %d" % (a, g, w) for a, (w, g) in
            sorted(bad.items())]


def judge_notes(notes, want):
    return [] if len(notes) == len(want) and \
        all(w in n for w, n in zip(want, notes)) else ["notes: %s" % notes]


# words; whether an instruction faults; what is said of the profile
SURE = [
    (["work"], False, []),
    (["work", "store"], True, []),
    (["work", "sum"], True, []),
    (["work", "deep"], True, []),
    (["late"], True, []),
    (["trap"], True, []),
    (["work", "abort"], False, []),
    (["call-nobody"], False, []),
    (["raise", "15"], False, []),
    (["raise", "11"], False, []),
    (["raise", "34"], False, []),
    (["pipe"], False, []),
    (["ignore", "13", "pipe"], False, []),
    (["suspend"], False, []),
    (["wait", "work", "deep"], True, []),
    (["overflow-aside"], True, []),
    (["waiting"], False, []),
    (["look", "15"], False, []),
    (["look", "11", "work", "store"], True, []),
    (["look", "10", "raise", "10"], False, []),
    (["child", "work", "store"], True, []),
    (["child", "work", "deep"], True, []),
    (["child", "raise", "15"], False, []),
    (["child", "raise", "9"], False, [KILLED]),
    (["raise", "9"], False, [KILLED]),
]


def try_sure(build, words, faults, notes, options=()):
    here = tempfile.mkdtemp(dir=where)
    status, out, want = oracle(build, here, words)
    got = tally_count(build, here, words, *options)
    bad = judge_notes(got[2], notes)
    if got[0] != (128 - status if status < 0 else status) or got[1] != out:
        bad.append("%s %s, want %s %s" % (got[0], got[1], status, out))
    bad += differences_of(build, want, told(build, here), faults)
    return [(" ".join([*options, *words]), bad)]


def try_random(build, number, before, after, options=()):
    """Ended by a timer; what it stored is what it counted."""
    here = tempfile.mkdtemp(dir=where)
    rng = random.Random(number)
    bad, seen = [], 0
    for _ in range(RUNS):
        file = here + "/marks"
        if os.path.exists(file):
            os.remove(file)
        words = [*before, "marks", file]
        if after[-1] in ("loop", "thread"):
            words += ["timer", str(rng.randrange(20000, 120000))]
        words += after
        status, _, notes = tally_count(build, here, words, *options,
                                       QEMU_SINGLESTEP="1")
        if not os.path.exists(file):
            continue
        want = struct.unpack("<512Q", open(file, "rb").read())
        got, marks = told(build, here), build.marks()
        seen += want[13] > 0
        bad += ["mark %d: %d, want %d; %s" % (n, sum(got[a] for a in at),
                                              want[n], notes)
                for n, at in marks.items() if sum(got[a] for a in at) !=
                want[n] and not any(LOST in n for n in notes)]
        bad += [] if status in ENDS else ["status %d" % status]
    return [(" ".join([*options, *before, *after]) + ": by a timer", bad +
             ([] if seen else ["it never ran"]))]


def try_kill(build):
    """Killed at any moment: what is there is at most one off."""
    here = tempfile.mkdtemp(dir=where)
    rng, bad = random.Random(5), []
    for _ in range(RUNS):
        file = here + "/marks"
        if os.path.exists(file):
            os.remove(file)
        p = subprocess.Popen([TALLY, "count", "-o", here + "/profile",
                              build.file, "marks", file, "loop"],
                             env=environment(here), cwd=here,
                             stderr=subprocess.PIPE, text=True,
                             preexec_fn=alone)
        until = time.time() + SECONDS
        while time.time() < until and not (
                os.path.exists(file) and any(open(file, "rb").read())):
            time.sleep(0.01)
        time.sleep(rng.random() / 5)
        for pid in run("pgrep", "-g", str(p.pid),
                       "qemu" if ISA != HOST else "^ends").split():
            os.kill(int(pid), signal.SIGKILL)
        err = finish(p)[1]
        want = struct.unpack("<512Q", open(file, "rb").read())
        got = told(build, here)
        rows = run(TALLY, "report", "--by", "process", "--json",
                   here + "/profile")
        if p.returncode != 128 + 9 or KILLED not in err or \
                '"killed": true' not in rows:
            bad.append("status %d, %s" % (p.returncode, err))
        # a procedure that was at work may be unknown: nothing is invented
        bad += ["mark %d: %d, want %d" % (n, sum(got[a] for a in at), want[n])
                for n, at in build.marks().items()
                if sum(got[a] for a in at) not in
                (0, want[n] - 1, want[n], want[n] + 1)]
    return [("killed", bad)]


def try_moving(build):
    here = tempfile.mkdtemp(dir=where)
    status, _, notes = tally_count(build, here, ["marks", here + "/marks",
                                                 "among"])
    return [("while another thread runs", judge_notes(notes, [MOVING]) +
             ([] if status == 3 else ["status %d" % status]))]


def try_overflow(build):
    """There is no room for a handler: the kernel ends it alone."""
    here = tempfile.mkdtemp(dir=where)
    status, _, notes = tally_count(build, here, ["overflow"])
    return [("no stack is left", judge_notes(notes, [KILLED]) +
             ([] if status == 128 + 11 else ["status %d" % status]))]


def jobs(pool):
    plain = Build("ends", "-O2")
    static = Build("ends-static", "-O2", "-static")
    slow = Build("ends-plain", "-O0")
    fixed = Build("ends-fixed", "-O2", "-no-pie")
    for words, faults, notes in SURE:
        yield plain, pool.submit(try_sure, plain, words, faults, notes)
    for build in (static, slow, fixed):
        for words, faults, notes in SURE[1:8] + SURE[-5:-2]:
            yield build, pool.submit(try_sure, build, words, faults, notes)
    for i, p in enumerate(["vertices", "vertex-edges", "redundant"]):
        options = ["--placement", p]
        for words, faults, notes in SURE[1:6]:
            yield plain, pool.submit(try_sure, plain, words, faults, notes,
                                     options)
        yield plain, pool.submit(try_random, plain, 10 + i, [], ["loop"],
                                 options)
    for i, build in enumerate((plain, static, slow, fixed)):
        yield build, pool.submit(try_random, build, i, [], ["loop"])
    yield plain, pool.submit(try_random, plain, 20, [], ["thread"])
    yield fixed, pool.submit(try_random, fixed, 21, [], ["thread"])
    yield plain, pool.submit(try_random, plain, 22, ["child"], ["loop"])
    for i, build in enumerate((plain, static, slow, fixed)):
        yield build, pool.submit(try_random, build, 30 + i, [],
                                 ["jumps", "15"])
    for i, words in enumerate((["returns", "30"], ["aside"],
                               ["exit-handler", "loop"],
                               ["end-handler", "loop"],
                               ["returns", "10", "jumps", "25"])):
        yield plain, pool.submit(try_random, plain, 40 + i, [], words)
    yield plain, pool.submit(try_kill, plain)
    yield plain, pool.submit(try_moving, plain)
    yield plain, pool.submit(try_overflow, plain)


with tempfile.TemporaryDirectory() as where, \
        concurrent.futures.ThreadPoolExecutor(2) as pool:
    where = os.path.realpath(where)
    for ISA in sys.argv[1:] or ISAS:
        emulated = ISA != HOST
        if not tool(ISA, "gcc") or (emulated and (
                not shutil.which("qemu-" + ISA) or
                "-plugin" not in run("qemu-" + ISA, "-h"))):
            tap.skip(ISA, "no qemu with plugins, or no compiler")
            continue
        if emulated:
            run("cc", "-O2", "-D_GNU_SOURCE", "-shared", "-fPIC", "-o",
                where + "/qemu-ends.so", "tests/lib/qemu-ends.c")
        for build, future in list(jobs(pool)):
            tap.job("%s %s" % (ISA, build.name), future)
tap.done()
