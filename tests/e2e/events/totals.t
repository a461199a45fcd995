#!/usr/bin/env python3
"""
events/totals: how often events happened, as `tally events` says at the end.

Every event is the same whether it follows from an edge profile or was kept in
running counters; of what a program itself does it is what single steps or qemu
and binutils say. Threads add up to processes, and these to the run. A program
that is interrupted at any moment, by handlers that return or do not, counts
what it stored; one that tells how often it did something, in whatever process
or thread and however that ends, has done it so often.
"""
import os
import re
import sys

sys.path.insert(0, "tests/lib")
import ends
from ends import Build, read_marks
from events_run import *

tap = Tap()
COUNT = "../count/"
ROUNDS = "../events/rounds.c"
PROCESS = COUNT + "process.c"
NOW = ["-Wl,-z,now"]


class Case:
    def __init__(self, name, sources, *flags, cc="gcc", args=(),
                 steady=True, steps=True, threads=False):
        self.name, self.sources, self.flags = name, sources, flags
        self.cc, self.args = cc, list(args)
        self.steady = steady # libraries do the same every time
        self.steps = steps  # one can see what its own code does
        self.threads = threads


CASES = [
    Case("flow", ["flow.c"], "-O2", *NOW),
    Case("flow-plain", ["flow.c"], "-O0", *NOW),
    Case("flow-more", ["flow.c"], "-O3", "-no-pie", *NOW),
    Case("flow-lazy", ["flow.c"], "-O1", "-Wl,-z,lazy", steps=False),
    Case("flow-static", ["flow.c"], "-O2", "-static", steps=False),
    Case("jump", ["jump.c"], "-O2", *NOW),
    Case("labels", ["labels.c"], "-O2", *NOW),
    Case("calls", [COUNT + "calls.c"], "-O2", *TABLES, *NOW),
    Case("calls-plain", [COUNT + "calls.c"], "-O0", *NOW),
    Case("leave", [COUNT + "leave.cc"], "-O2", *NOW, cc="g++", steady=False),
    Case("threads", [COUNT + "calls.c"], "-O2", args=["threads"],
         steady=False, steps=False),
    Case("fork", [COUNT + "calls.c"], "-O2", args=["fork"], steps=False),
    Case("kill", [COUNT + "calls.c"], "-O2", args=["kill"], steps=False),
    Case("rounds", [ROUNDS], "-O2", *NOW, args=["rounds", "5"]),
    Case("turns", [ROUNDS], "-O2", *NOW, args=["threads", "5"], threads=True,
         steady=False),
    Case("big", [ROUNDS], "-O0", "-DBIG=2", *NOW, args=["big", "3"],
         steps=False),
]


def compared(a, b, names=EVENTS):
    """Complaints about counts that differ, and about what is not known."""
    return ["%s: %s, by edges %s" % (e, b.events.get(e), a.events.get(e))
            for e in names if a.events.get(e) != b.events.get(e)] + \
        ["%s: at least %s, by edges %s" % (e, b.least.get(e), a.least.get(e))
         for e in names if a.least.get(e) != b.least.get(e)]


def both_ways(here, exe, args, *options):
    """Both ways of counting, and complaints; what the C library does may
    depend on what else the machine does: what is wrong is so each time."""
    for _ in range(3):
        got = both_ways_once(here, exe, args, *options)
        if not got[2]:
            break
    return got


def both_ways_once(here, exe, args, *options):
    a = tally_events(here, exe, args, "--no-aslr", *options)
    b = tally_events(here, exe, args, "--no-aslr", "--online", *options)
    bad = compared(a, b) + a.sums() + b.sums()
    if (a.status, a.out) != (b.status, b.out):
        bad.append("%s, by edges %s" % ((b.status, b.out), (a.status, a.out)))
    return a, b, bad + ([] if a.events else [a.err])


def seen_steps(case, here, exe):
    """({address: count}, {(from, to): count}) of its own code."""
    counts, flow = collections.Counter(), collections.Counter()
    isa = count_run.ISA
    for plugin in ["qemu-counts"] + (["qemu-flow"] if isa != HOST else []):
        for f in glob.glob(here + "/ran.*"):
            os.remove(f)
        original(here, exe, case.args, plugin)
        if plugin == "qemu-counts":
            counts = +ran(here, exe)
    for image, a, other, to, n in rows(here, "flow"):
        if image == exe:
            flow[a, to if other == exe else -1] += n
    return counts, flow


def judge_steps(case, here, exe, told):
    counts, flow = seen_steps(case, here, exe)
    isa = count_run.ISA
    want = expected_flow(exe, isa, counts, flow)
    names = ["insns", *FLOW]
    if not case.threads and shutil.which("qemu-" + isa):
        more, open_ = expected_bytes(exe, isa, counts,
                                     accesses(here, exe, case.args))
        want.update(more)
        names += [e for e in BYTES if e not in open_]
    # what was not seen is said, and not made up
    in_place = any(n["image"] == case.name for n in told.json["not_measured"])
    return ["%s: %s, want %s" % (e, told.count(e), want[e]) for e in names
            if told.count(e) > want[e] or
            told.count(e) < want[e] and not in_place] + \
        ([] if want["insns"] else ["nothing ran"])


def attempt(case):
    here = room(case.name)
    exe = build(here, case.name, case.sources, *case.flags, cc=case.cc)
    a, _, bad = both_ways(here, exe, case.args, "--libs", "none")
    out = [("both ways", bad)]
    if case.steady:
        out.append(("both ways, libraries too",
                    both_ways(here, exe, case.args)[2]))
    if case.steps:
        out.append(("steps", judge_steps(case, here, exe, a)))
    return out


# --- handlers at any moment

def insns_of(exe, name):
    """Addresses of a procedure's instructions."""
    for start, size, n in Names.read(count_run.ISA, exe):
        if n == name:
            return [a for a in Code(count_run.ISA, exe).insn
                    if start <= a < start + size]


def interrupted(name, *flags):
    """Handlers add what they are, and take nothing away."""
    here = room(name)
    exe = build(here, name, [ROUNDS], "-no-pie", *flags, *NOW)
    with open(here + "/handlers", "w") as f:
        f.write("# tick and tock\n\n")
        for a in insns_of(exe, "tick") + insns_of(exe, "tock"):
            f.write(" %#x # one\n" % a)
    events = ["insns", "at:@" + here + "/handlers", "at:tick", "at:tock",
              "at:begin_round", "calls", "syscalls", "fp"]
    bad = []

    def counted(*words):
        """(rounds, handlers, insns, calls, fp but for those of handlers)"""
        t = tally_events(here, exe, words, "--libs", "none", "--online",
                         events=events)
        said = [int(n) for n in re.findall(r"\d+", t.out)]
        n = list(t.events.values())
        if t.status or len(said) != 3 or None in n:
            raise Failed("%s %s %s" % (t.status, t.err, t.events))
        if [n[4], n[2], n[3]] != said:
            bad.append("said %s, counted %s" % (said, n))
        return said[0], said[1] + said[2], n[0] - n[1], n[5], n[7]

    few, many = counted("single", "10"), counted("single", "60")
    each = [(b - a) // 50 for a, b in zip(few, many)]
    calm = counted("ticks", "1")
    for _ in range(3):
        got = counted("ticks", "60")
        for i, what in ((2, "insns"), (3, "calls"), (4, "fp")):
            want = calm[i] + each[i] * (got[0] - calm[0])
            if got[i] != want:
                bad.append("%d rounds, %d handlers: %d %s, want %d" % (
                    *got[:2], got[i], what, want))
    return [("interrupted by handlers", bad)]


# --- jumps out of handlers, and ends at any moment

def marked(build, number, words, *options):
    """What the program stored up to its end it counted."""
    here = room("marked-%d" % number)
    events = ["insns"]
    marks = sorted(build.marks().items())
    for n, at in marks:
        with open("%s/mark-%d" % (here, n), "w") as f:
            f.write("".join("%#x\n" % a for a in at))
        events.append("at:@%s/mark-%d" % (here, n))
    bad, told = [], 0
    # where it ended cannot be told of every run, which is said then
    for _ in range(20):
        if told == 2:
            break
        file = here + "/marks"
        if os.path.exists(file):
            os.remove(file)
        t = tally_events(here, build.file, ["marks", file, *words], "--online",
                         *options, events=events, QEMU_SINGLESTEP="1")
        if t.events.get("insns") is None or ends.LOST in t.err:
            continue
        want = read_marks(open(file, "rb").read())
        told += any(want)
        bad += ["mark %d: %s, want %d; %s" % (n, got, want[n], t.err)
                for (n, _), got in zip(marks, list(t.events.values())[1:])
                if got != want[n]]
    return [(" ".join(words), bad + ([] if told else ["no end is told"]))]


MARKED = [["jumps", "15"], ["returns", "30"], ["timer", "90000", "loop"],
          ["timer", "90000", "exit-handler", "loop"],
          ["timer", "90000", "end-handler", "loop"],
          ["timer", "90000", "thread"]]


# --- processes that tell what they did

def telling(build, number, *words, status=0, options=()):
    here = room("telling-%d" % number)
    bad = []
    for how in ([], ["--online"]):
        t = tally_events(here, build, words, *how, *options,
                         events=["at:work", "insns", "calls"])
        said = collections.defaultdict(list)
        for pid, n in re.findall(r"^(\d+) (\d+)$", t.out, re.M):
            said[int(pid)].append(int(n))
        got = collections.defaultdict(list)
        for p in t.json["processes"]:
            # where one was when it was killed is not known
            known = p["about"] if status == 128 + 9 else p["events"]
            got[p["pid"]].append(known["at:work"])
        bad += ["%s process %d: %s, want %s" % (how, pid, got[pid], n)
                for pid, n in said.items() if got[pid] != n]
        bad += t.sums()
        bad += [] if t.status == status and said else [
            "%s status %d, %s, %s" % (how, t.status, t.out, t.err)]
    return [(" ".join(os.path.basename(w) for w in words), bad)]


TELLING = [
    (["threads", "8", "2500", "say"], 0),
    (["threads", "40", "10", "say"], 0),
    (["loop", "100", "say"], 0),
    (["work", "3", "tree", "2", "say"], 0),
    (["forks", "4", "say"], 0),
    (["threads", "3", "50", "tree", "2", "threads", "4", "5", "tree", "1",
      "say"], 0),
    (["spawn", "say"], 0),
    (["work", "1234", "say", "_exit", "3"], 3),
    (["work", "1234", "say", "abort"], 128 + 6),
    (["work", "1234", "say", "kill", "11"], 128 + 11),
    (["work", "5", "say", "exec-none", "kill", "9"], 128 + 9),
]


def troubles(build_):
    """What may be wrong is said."""
    here, bad = room("troubles"), []
    for words, want in ((["work", "7", "kill", "9"], ["was killed"]),
                        (["work", "7", "files", "3", "threads", "2", "5"],
                         ["could not open", "share counters"]),
                        (["work", "7"], [])):
        for how in ([], ["--online"]):
            said = tally_events(here, build_, words, *how).json["troubles"]
            bad += [] if len(said) == len(want) and all(
                w in s for s, w in zip(said, want)) else [
                    "%s %s: %s" % (words, how, said)]
    return [("are said", bad)]


def libraries(build_):
    """Code that comes and goes."""
    here = room("libraries")
    source, lib = here + "/answer.c", here + "/libanswer.so"
    with open(source, "w") as f:
        f.write("int answer(void) { return 42; }\n")
    run(*compiler(count_run.ISA, "gcc"), "-O1", "-shared", "-fPIC", "-o", lib,
        source)
    out = []
    for words, want in ((["load", lib, "20", "say"], 20),
                        (["load-among", lib, "20", "say"], 20),
                        (["use", lib, "say"], 2000)):
        bad = []
        for how in ([], ["--online"]):
            t = tally_events(here, build_, words, *how, events=[
                "at:libanswer:answer", "at:work", "insns"])
            said = int(re.findall(r"^\d+ (\d+)$", t.out, re.M)[-1])
            got = list(t.events.values())[:2]
            bad += t.sums() + ([] if got == [want, said] else [
                "%s %s, want %s; %s" % (how, got, [want, said], t.err)])
        out.append((words[0], bad))
    return out


# --- others that count

def by_callgrind(name, source, *flags):
    """On the machine itself: instructions of the program."""
    if not shutil.which("valgrind") or count_run.ISA != HOST:
        return "no valgrind for it"
    here = room(name)
    if HOST == "x86_64":
        # what repeats (rep stos) is one instruction, and many to callgrind
        flags += "-mstringop-strategy=libcall",
    exe = build(here, name, [source], "-no-pie", *flags, *NOW)
    quiet(["valgrind", "--tool=callgrind", "--dump-instr=yes",
           "--dump-line=no", "--compress-strings=no", "--compress-pos=no",
           "--skip-plt=no", "--callgrind-out-file=" + here + "/out", exe],
          here)
    names = {}
    for line in run(tool(HOST, "readelf"), "-SW", exe).splitlines():
        w = line.replace("[ ", "[").split()
        if len(w) > 5 and w[1].startswith("."):
            names[w[1]] = int(w[3], 16), int(w[5], 16)
    first, end = names[".init"][0], sum(names[".fini"])
    total, skip = 0, False
    for line in open(here + "/out"):
        if line.startswith("calls="):
            skip = True
        elif line.startswith("0x"):
            w = line.split()
            total += 0 if skip or not first <= int(w[0], 16) < end else \
                int(w[-1])
            skip = False
    t = tally_events(here, exe, [], "--libs", "none", "--online")
    return [("callgrind", [] if total and total == t.events["insns"] else
             ["%s insns, want %d" % (t.events["insns"], total)])]


def jobs():
    yield from ((c.name, attempt, c) for c in CASES)
    for level in ("-O0", "-O2"):
        yield "ticks" + level, interrupted, "ticks" + level, level
    plain = Build(count_run.where, "ends", "-O2")
    for i, words in enumerate(MARKED):
        yield "marked", marked, plain, i, words
    process = build(room("process"), "process", [PROCESS], "-O2")
    for i, (words, status) in enumerate(TELLING):
        yield "telling", lambda *a, s=status: telling(*a, status=s), \
            process, i, *words
    yield "telling", lambda: telling(
        process, 99, "work", "5", "say", "exec", process, "work", "9", "say",
        options=["--follow"])
    yield "libraries", libraries, process
    yield "troubles", troubles, process
    # code of x86-64's flow.c has to stay in place
    yield "callgrind-flow", by_callgrind, "callgrind-flow", \
        "../count/calls.c" if HOST == "x86_64" else "flow.c", "-O2"
    yield "callgrind-jump", by_callgrind, "callgrind-jump", "jump.c", "-O2"


run_ = count_run.begin


def begin(folder, *plugins):
    """What sees memory is an emulator on every machine."""
    return run_(folder, *{*plugins, "qemu-accesses"})


count_run.begin = begin
test_all(tap, jobs, "qemu-counts", "qemu-flow")
