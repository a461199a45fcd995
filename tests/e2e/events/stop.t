#!/usr/bin/env python3
"""
events/stop: `tally events --stop-at N` stops a thread exactly before the
instruction that follows N events. Which one that is single steps through the
original say (tests/tools/step-counts.c -t), event by event with binutils' text;
that a thread goes on as if nothing had been its output and status say.

Steps need the machine itself: an emulator has no ptrace().
"""
import array
import os
import random
import re
import subprocess
import sys
import time

sys.path.insert(0, "tests/lib")
from events_run import *
from patience import until

tap = Tap()
STOPS = "../events/stops.c"
SEARCH = "../events/search.c"
NOW = ["-Wl,-z,now"]
LINE = re.compile(r"^tally: stopped after (\d+) (\S+): (\S+) 0x([0-9a-f]+) "
                  r"(\S+)\+0x([0-9a-f]+), process (\d+) thread (\d+)$", re.M)


class Stop:
    """A run that stops; look() is called with the process while it does."""

    def __init__(self, here, exe, args, n, *options, events="insns",
                 look=None):
        p = subprocess.Popen(
            [TALLY, "events", "-e", events, "--stop-at", str(n), *options,
             "--", exe, *args], env=environment(here), cwd=here, text=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, **ALONE)
        self.err, self.line, self.state = "", None, None
        for line in p.stderr:
            self.err += line
            self.line = LINE.match(line)
            if self.line:
                self.pid, self.tid = map(int, self.line.groups()[-2:])
                until(self.is_stopped, 0.005)
                self.state = self.is_stopped()
                self.looked = look(self.pid) if look else None
                os.kill(self.pid, signal.SIGCONT)
                break
        self.out, rest = finish(p)
        self.err += rest
        self.status = p.returncode

    def is_stopped(self):
        """All threads of it, and nobody traces them."""
        states = []
        for t in os.listdir("/proc/%d/task" % self.pid):
            text = open("/proc/%d/task/%s/status" % (self.pid, t)).read()
            states.append("State:\tT (stopped)" in text and
                          "TracerPid:\t0" in text)
        return states and all(states)

    def place(self):
        """(image, address, procedure, how far in it), or None"""
        if not self.line:
            return None
        g = self.line.groups()
        return g[2], int(g[3], 16), g[4], int(g[5], 16)


class Program:
    def __init__(self, name, source, *flags, args=(), options=()):
        self.name, self.args, self.options = name, list(args), list(options)
        self.here = room(name)
        self.exe = build(self.here, name, [source], *flags)
        self.code = Code(HOST, self.exe)
        got = quiet([STEPS, "-t", self.here + "/ran", self.exe, *args],
                    self.here)
        self.status, self.out = got[:2]
        # of each thread, as they begin; addresses are as in the file
        self.trace = []
        for f in sorted(glob.glob(self.here + "/ran.trace.*"),
                        key=lambda f: int(f.split(".")[-1])):
            words = array.array("Q", open(f, "rb").read())
            self.trace.append([a for a in words if a in self.code.insn])
        self.names = Names.read(HOST, self.exe)

    def name_at(self, address):
        for start, size, n in self.names:
            if start <= address < start + size:
                return n, address - start
        return None

    def after(self, event, thread=0):
        """Indexes of what follows each of the events, in a thread's trace."""
        trace, kinds = self.trace[thread], dict(KINDS[HOST])
        if event == "insns":
            return range(1, len(trace) + 1)
        if event.startswith("at:"):
            at = {s for s, _, n in self.names if n == event[3:]}
            return [i + 1 for i, a in enumerate(trace) if a in at]
        if event == "taken":
            return [i + 1 for i, a in enumerate(trace)
                    if re.match(kinds["branches"], text_at(self.code, a)) and
                    (not re.match(CONDITIONS[HOST], text_at(self.code, a)) or
                     trace[i + 1:i + 2] != [self.code.at(a)[0]])]
        return [i + 1 for i, a in enumerate(trace)
                if re.match(kinds[event], text_at(self.code, a))]

    def leaves(self, address):
        """May a library or the kernel be next?"""
        return re.match(kinds_out[HOST], text_at(self.code, address))

    def judge(self, s, event, n, thread=0):
        """Complaints about a run that should stop after n events."""
        trace, after = self.trace[thread], self.after(event, thread)
        i = after[n - 1]
        want = trace[i] if i < len(trace) else None
        if not s.line:
            return ["%d %s: did not stop: %s" % (n, event, s.err)]
        image, address, name, off = s.place()
        bad = []
        if image != self.name:
            # in what is not counted, on the way there
            if not self.leaves(trace[i - 1]):
                bad.append("%d %s: in %s, want %#x" % (n, event, image, want))
        elif address != want:
            bad.append("%d %s: %#x, want %#x" % (n, event, address, want or 0))
        elif self.name_at(want) and (name, off) != self.name_at(want):
            bad.append("%#x: %s+%#x, want %s" % (want, name, off,
                                                 self.name_at(want)))
        if (s.line.group(1), s.line.group(2)) != (str(n), event):
            bad.append(s.line.group(0))
        if not s.state:
            bad.append("%d %s: not all of it stopped" % (n, event))
        if (s.status, s.out) != (self.status, self.out):
            bad.append("%d %s: %s %s, want %s %s; %s" % (
                n, event, s.status, s.out, self.status, self.out, s.err))
        return bad

    def stop(self, n, *options, **more):
        return Stop(self.here, self.exe, self.args, n, *self.options,
                    *options, **more)


kinds_out = {"aarch64": r"b\b|br\b|blr|ret|svc", "x86_64":
             r"jmp\s+\*|call\s+\*|ret|syscall"}


def at_steps(p, event, some, thread=0):
    """Stops after the event, in so many places and the ones behind them."""
    all_ = p.after(event, thread)
    rng, bad = random.Random(7), []
    if len(all_) < 3:
        return [(event, ["only %d" % len(all_)])]
    ns = {1, 2, len(all_) - 1} | {n + k for n in rng.sample(
        range(1, len(all_) - 2), min(some, len(all_) - 3)) for k in (0, 1)}
    options = ["--thread", str(thread + 1)] if thread else []
    for n in sorted(ns):
        bad += p.judge(p.stop(n, *options, events=event), event, n, thread)
    return [("%s, %d places" % (event, len(ns)), bad)]


def beyond(p, thread=0):
    """The end comes first, which is said."""
    total = len(p.trace[thread])
    s = p.stop(total + 1, *["--thread", str(thread + 1)] * bool(thread))
    bad = [] if not s.line and "after %d insns" % total in s.err and \
        s.status == p.status else [s.err, str(total)]
    s = p.stop(5, "--thread", "99")
    bad += [] if not s.line and "no thread 99" in s.err and \
        s.status == p.status else [s.err]
    return [("beyond the end", bad)]


def again(p, n):
    """The same place in every run."""
    places = {p.stop(n, "--no-aslr").place() for _ in range(3)}
    return [("again", [] if len(places) == 1 and None not in places else
             [str(places)])]


def by_gdb(p):
    if not shutil.which("gdb"):
        return "no gdb"
    bad = []
    for n in (p.after("at:fib")[7], p.after("at:on_signal")[1]):
        s = p.stop(n, look=lambda pid: run(
            "gdb", "-q", "-nx", "-batch", "-p", str(pid), "-ex",
            "info symbol $pc", "-ex", "bt"))
        name = p.name_at(p.trace[0][n])[0]
        if not re.search(r"^%s( \+|\(| in section)" % name, s.looked, re.M) or \
                name == "fib" and " main (" not in s.looked:
            bad += ["%s: %s" % (name, s.looked)]
        bad += p.judge(s, "insns", n)
    return [("gdb", bad)]


def children(p):
    """They do not stop: the parent waits for one that does more than it."""
    n = len(p.after("at:fib")) - 1
    return [("children go on", p.judge(p.stop(n, events="at:fib"), "at:fib",
                                       n))]


def flags(name, cc):
    """Code that may trap changes flags, which programs have in use."""
    here = room(name)
    exe = build(here, name, [SEARCH], "-O2", cc=cc)
    want = original(here, exe, ["while", "none"])
    got = quiet([TALLY, "events", "-e", "insns", "--stop-at", str(1 << 60),
                 "--", exe, "while", "none"], here)
    return [("flags are kept", [] if got[:2] == want else
             ["%s, want %s" % (got, want)])]


def checked(name, *words):
    """Step by step through all of a program, nothing is left out."""
    here = room(name)
    exe = build(here, name, [STOPS], "-O2")
    s = Stop(here, exe, words, 1 << 40, "--check-steps")
    return [("every step", [] if s.status == 7 and "thread ended after" in
             s.err else ["%s %s" % (s.status, s.err)])]


def jobs():
    if count_run.ISA != HOST:
        return
    libs = ["--libs", "none"]
    plain = Program("plain", STOPS, "-O0", "-no-pie", *NOW, args=["12"],
                    options=libs)
    fast = Program("fast", STOPS, "-O2", "-no-pie", *NOW, args=["40"],
                   options=libs)
    turns = Program("turns", STOPS, "-O1", "-no-pie", *NOW,
                    args=["9", "3", "x"], options=libs)
    yield "plain", at_steps, plain, "insns", 12
    yield "fast", at_steps, fast, "insns", 12
    for event in ("calls", "returns", "branches", "taken", "at:fib",
                  "at:on_signal"):
        yield "fast", at_steps, fast, event, 3
    yield "turns", at_steps, turns, "insns", 3, 1
    yield "turns", at_steps, turns, "insns", 3, 3
    yield "turns", at_steps, turns, "at:fib", 2, 2
    yield "turns", beyond, turns, 2
    yield "turns", children, turns
    yield "fast", beyond, fast
    yield "fast", again, fast, 1000
    yield "gdb", by_gdb, fast
    for cc in "gcc", "clang":
        yield cc, flags, cc, cc
    yield "checked", checked, "checked", "6"


if EMULATED:
    tap.skip("stops", "an emulator has no ptrace()")
    tap.done()
sys.argv[1:] = [HOST, *sys.argv[1:]]
test_all(tap, jobs)
