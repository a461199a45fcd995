#!/usr/bin/env python3
"""
events/client: programs that ask for their own counts, stop and start them, and
name phases (src/client/tally.h).

What lies between two calls is what single steps through the original see there,
event by event, and so are phases and what was left out; where steps cannot be
had, instructions whose number is known. However the library gets into the
program it answers, and only where running counters are. Phases are of the
process, thread or child that was in them, also if that dies, and of a moment
if a query asks.
"""
import array
import collections
import glob
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, "tests/lib")
from events_run import *

tap = Tap()
CLIENT = "../events/client.c"
SOURCES = os.path.abspath("src")
ASKED = ["insns", "calls", "returns", "branches", "taken", "syscalls"]
NOW = ["-Wl,-z,now"]
ONLINE = ["--online", "--libs", "none"]
NOT_COUNTED, NO_ROOM, BAD_NAME, NO_EVENT = -1, -2, -3, -4


# --- the library

def flags(*more):
    """How the Makefile compiles it."""
    text = open("Makefile").read().replace("\\\n", " ")
    own = re.search(r"^CLIENT_FLAGS := (.*)", text, re.M)[1]
    own = own.replace("$(WARNINGS)", re.search(
        r"^WARNINGS := (.*)", text, re.M)[1])
    own += " " + re.search(r"^CLIENT_%s := (.*)" % count_run.ISA, text,
                           re.M)[1]
    return [w.replace("-Isrc", "-I" + SOURCES) for w in own.split()] + [*more]


def library(here):
    """(the static library, the folder of the shared one)"""
    cc = compiler(count_run.ISA, "gcc")
    o, a = here + "/client.o", here + "/libtally-client.a"
    run(*cc, *flags(), "-c", "-o", o, SOURCES + "/client/client.c")
    run(tool(count_run.ISA, "ar"), "rcs", a, o)
    os.makedirs(here + "/shared", exist_ok=True)
    so = here + "/shared/libtally-client.so.1"
    run(*cc, "-shared", "-nostdlib", "-Wl,-soname,libtally-client.so.1",
        "-Wl,-z,defs", "-o", so, o)
    if not os.path.exists(here + "/shared/libtally-client.so"):
        os.symlink("libtally-client.so.1", here + "/shared/libtally-client.so")
    return a, here + "/shared"


def program(here, *more, shared=False):
    a, folder = library(here)
    with_ = ["-L" + folder, "-Wl,-rpath," + folder, "-ltally-client"] if \
        shared else [a]
    exe = here + "/client"
    run(*compiler(count_run.ISA, "gcc"), "-O2", "-w", "-I" + SOURCES +
        "/client", *more, "-o", exe, *paths([CLIENT]), *with_, "-lpthread",
        "-ldl")
    return exe


def value(said, event="insns"):
    """A count; or, of what was killed, about so many."""
    n = said["events"][event]
    return said["about"][event] if n is None else n


def phase(told, name, event="insns"):
    for p in told.json.get("phases", ()):
        if p["name"] == name:
            return value(p, event)
    return None


def left(told, event="insns"):
    said = told.json.get("left_out")
    return value(said, event) if said else 0


def add_up(told):
    """Complaints: phases of processes add up to those of the run."""
    bad = told.sums()
    for p in told.json.get("phases", ()):
        for e in p["events"]:
            n = value(p, e)
            parts = [value(q, e) for r in told.json["processes"]
                     for q in r.get("phases", ()) if q["name"] == p["name"]]
            if sum(parts) != n:
                bad.append("phase %s: %s of %s, processes %s" % (
                    p["name"], n, e, parts))
    parts = [value(r["left_out"]) for r in told.json["processes"]
             if "left_out" in r]
    return bad + ([] if sum(parts) == left(told) else [
        "left out %s, processes %s" % (left(told), parts)])


# --- single steps

class Steps:
    """What the first thread of an original does, step by step."""

    def __init__(self, here, exe, *words):
        for f in glob.glob(here + "/ran.*"):
            os.remove(f)
        quiet([STEPS, "-t", here + "/ran", exe, *words], here)
        self.code = Code(HOST, exe)
        file = min(glob.glob(here + "/ran.trace.*"),
                   key=lambda f: int(f.split(".")[-1]))
        self.trace = [a for a in array.array("Q", open(file, "rb").read())
                      if a in self.code.insn]
        self.name = {}
        for start, size, n in Names.read(HOST, exe):
            if n.startswith("tally_"):
                self.name.update({a: "" for a in range(start, start + size)})
                self.name[start] = n
        self.kinds = dict(KINDS[HOST])

    def events(self, i):
        """Those of a step; None: it is one of the library."""
        a = self.trace[i]
        if a in self.name:
            return None
        text = text_at(self.code, a)
        next_ = self.trace[i + 1] if i + 1 < len(self.trace) else None
        taken = re.match(self.kinds["branches"], text) and (
            not re.match(CONDITIONS[HOST], text) or
            next_ != self.code.at(a)[0])
        return [1 if e == "insns" else bool(taken) if e == "taken" else
                bool(re.match(self.kinds[e], text)) for e in ASKED]

    def between_calls(self):
        """(the function that was called, events up to there), in order"""
        now = [0] * len(ASKED)
        for i, a in enumerate(self.trace):
            if self.name.get(a):
                yield self.name[a], now
                now = [0] * len(ASKED)
            for k, n in enumerate(self.events(i) or ()):
                now[k] += n
        yield None, now


def stepped_regions(here, exe):
    steps = [n for name, n in Steps(here, exe, "regions").between_calls()
             if name == "tally_read"][1:]
    t = tally_events(here, exe, ["regions"], *ONLINE, events=ASKED)
    got = [[int(n) for n in l.split()] for l in t.out.splitlines()]
    return ["region %d: %s, want %s" % (i, g, s)
            for i, (g, s) in enumerate(zip(got, steps)) if g != s] + (
        [] if len(got) == len(steps) == 6 else [t.out + t.err])


def stepped_phases(here, exe):
    t = tally_events(here, exe, ["phases"], *ONLINE, events=ASKED)
    calls = iter(t.out.splitlines())
    sums = collections.defaultdict(lambda: [0] * len(ASKED))
    now, stopped, names = None, False, [None]
    for name, n in Steps(here, exe, "phases").between_calls():
        for key in {"left out"} if stopped else {"all", now}:
            sums[key] = [a + b for a, b in zip(sums[key], n)]
        if not name:
            break
        word, _, which = next(calls).partition(" ")
        stopped = word == "stop" or stopped and word != "start"
        if word == "phase":
            now = which or None
            names += [now] if now not in names else []
        elif word == "return":
            now = names[int(which)]
    want = {k: dict(zip(ASKED, v)) for k, v in sums.items() if k}
    got = {p["name"]: p["events"] for p in t.json.get("phases", ())}
    got.update({"all": t.events, "left out": t.json.get(
        "left_out", {}).get("events")})
    return ["%s: %s, want %s" % (k, got.get(k), want.get(k))
            for k in {*got, *want} if got.get(k) != want.get(k)] + add_up(t)


def stepped(name, *more):
    if EMULATED:
        return "an emulator has no ptrace()"
    here = room(name)
    exe = program(here, "-no-pie", *NOW, *more)
    return [("regions", stepped_regions(here, exe)),
            ("phases", stepped_phases(here, exe))]


# --- however it is built

def nops(here, exe, *options, **env):
    """2000 instructions more are 2000 more."""
    t = tally_events(here, exe, ["regions"], "--online", *options,
                     events=ASKED, **env)
    got = [[int(n) for n in l.split()] for l in t.out.splitlines()]
    if len(got) != 6 or not got[0]:
        return ["%s %s %s" % (t.status, t.out, t.err)]
    return [] if got[5][0] - got[3][0] == 2000 and 0 < got[0][0] < 20 and \
        got[1][1] == 3 and got[2][1] >= 10 else [str(got)]


SHAPES = [
    ("static-library", {}, [], []),
    ("not-pie", {}, ["-no-pie"], []),
    ("static", {}, ["-static"], []),
    ("static-pie", {}, ["-static-pie"], []),
    ("stripped", {}, ["-s"], []),
    ("collected", {}, ["-Wl,--gc-sections"], []),
    ("shared", {"shared": True}, [], []),
    ("shared-alone", {"shared": True}, NOW, ["--libs", "none"]),
    ("traps", {}, [], ["--timeout-insns", "1000000000"]),
]


def shape(name, how, more, options):
    here = room(name)
    exe = program(here, *more, **how)
    bad = nops(here, exe, *options)
    t = tally_events(here, exe, ["phases"], "--online", *options)
    bad += add_up(t)
    names = [p["name"] for p in t.json.get("phases", ())]
    bad += [] if names == ["read", "sort", "left"] and left(t) > 1000 else [
        "%s %s" % (names, t.err)]
    return [("answers", bad)]


def not_counted(exe):
    """No answer, and nothing else happens."""
    here, bad = room("not-counted"), []
    alone = [] if count_run.ISA == HOST else [count_run.EMULATOR]
    for words in ([*alone], [TALLY, "events", "-e", "insns", "--"],
                  [TALLY, "count", "-o", here + "/profile", "--"]):
        status, out, err = quiet([*words, exe, "limits"], here)
        want = " ".join([str(NOT_COUNTED)] * 8)
        bad += [] if not status and out.startswith(want) else [
            "%s: %s %s %s" % (words[:2], status, out, err)]
    a, b = (tally_events(here, exe, ["phases"], *how, "--libs", "none")
            for how in ([], ["--online"]))
    # what is left out of one is in the other
    both = b.events["insns"] + left(b)
    bad += [] if abs(a.events["insns"] - both) < 100 and \
        "phases" not in a.json else [
        "%s without, %s with" % (a.events["insns"], both)]
    return [("no answer", bad)]


PLUGIN = """
#include "tally.h"
int ask(void)
{
	tally_phase("program");
	tally_phase("plugin");
	return tally_events();
}
"""


def plugins(name, **how):
    """Two copies of the library in one process, and one that comes late."""
    here = room(name)
    exe = program(here, **how)
    with open(here + "/plugin.c", "w") as f:
        f.write(PLUGIN)
    run(*compiler(count_run.ISA, "gcc"), "-O2", "-shared", "-fPIC", "-I" +
        SOURCES + "/client", "-Wl,-Bsymbolic", "-o", here + "/plugin.so",
        here + "/plugin.c", here + "/libtally-client.a")
    t = tally_events(here, exe, ["plugin", here + "/plugin.so"], "--online")
    names = [p["name"] for p in t.json.get("phases", ())]
    return [("plugin", add_up(t) + (
        [] if t.out == "14 14\n" and names == ["program", "plugin"] else [
            "%s %s %s" % (t.out, names, t.err)]))]


# --- threads and processes

def threads(exe):
    here, bad = room("threads"), []
    one = tally_events(here, exe, ["threads", "1", "20"], *ONLINE)
    five = tally_events(here, exe, ["threads", "5", "20"], *ONLINE)
    want = 5 * phase(one, "thread")
    bad += add_up(five) + ([] if phase(five, "thread") == want else [
        "%s, want %s" % (phase(five, "thread"), want)])
    t = tally_events(here, exe, ["many", "700"], *ONLINE)
    bad += add_up(t) + ([] if t.out == "700\n" and not t.status and
                        phase(t, "waits") and left(t) else [
        "%s %s %s" % (t.status, t.out, t.err)])
    return [("threads", bad)]


def forks(exe):
    here = room("forks")
    a, b = (tally_events(here, exe, ["forks", n], *ONLINE)
            for n in ("5", "25"))
    bad = add_up(a) + add_up(b)
    for t in a, b:
        counts = [p["events"]["insns"] for p in t.json["processes"]]
        bad += [] if t.out == "1\n" and len(counts) == 3 and \
            counts[2] == 0 else ["%s %s %s" % (t.out, counts, t.err)]
    more = [f(b) - f(a) for f in (lambda t: phase(t, "fork"),
                                  lambda t: t.events["insns"])]
    bad += [] if more[0] == more[1] > 1000 and left(a) == left(b) else [
        "%s more, left out %s, %s" % (more, left(a), left(b))]
    return [("children are in the phase of their parent", bad)]


def moved(exe):
    """A thread that goes on with other counters does not notice."""
    here = room("moved")
    with open(here + "/answer.c", "w") as f:
        f.write("int answer(void) { return 42; }\n")
    run(*compiler(count_run.ISA, "gcc"), "-shared", "-fPIC", "-o",
        here + "/answer.so", f.name)
    a, b = (tally_events(here, exe, ["moved", here + lib], *ONLINE[:1],
                         "--libs", "answer")
            for lib in ("/none", "/answer.so"))
    bad = add_up(a) + add_up(b)
    return [("a thread that moves", bad + (
        [] if a.out.split() == b.out.split() and phase(a, "thread") and
        phase(a, "thread") == phase(b, "thread") else [
            "%s, %s; %s" % (a.out, b.out, b.err)]))]


def crash(exe):
    """Where it dies is a part of the phase, or left out."""
    here, bad = room("crash"), []
    t = {w: tally_events(here, exe, ["crash", w], *ONLINE)
         for w in ("exit", "phase", "stopped")}
    before = {w: x.events["insns"] - phase(x, "last") for w, x in t.items()
              if x.events.get("insns") is not None}
    if len(before) < 3:
        bad = ["%s: %s" % (w, x.err) for w, x in t.items()]
    elif len(set(before.values())) > 1 or left(t["stopped"]) < 1000 or \
            phase(t["phase"], "last") - phase(t["stopped"], "last") < 1000:
        bad = ["%s, %s" % (before, [x.json for x in t.values()])]
    return [("an end in a phase", bad)]


def limits(exe):
    here = room("limits")
    t = tally_events(here, exe, ["limits"], *ONLINE, events=["insns"])
    want = [BAD_NAME] * 4 + [0, NO_ROOM, 31, 5, "in", 0, NO_EVENT]
    bad = [] if t.out.split() == [str(w) for w in want] else [t.out + t.err]
    # what is left out is not limited either
    t = tally_events(here, exe, ["left-out"], "--timeout-insns", "5000000")
    bad += [] if t.status == 0 and left(t) > 10000000 else [
        "%s %s" % (t.status, t.err)]
    return [("limits", bad)]


def kept(exe):
    """A profile keeps phases; what was there before is taken away."""
    here, bad = room("kept"), []
    profile = here + "/profile"
    tally_events(here, exe, ["phases"], *ONLINE, "-o", profile)
    status, _, err = quiet([TALLY, "snapshot", profile, "--minus", profile,
                            "-o", here + "/none"], here)
    bad += [] if not status else [err]
    status, _, err = quiet([TALLY, "merge", "-o", here + "/two", profile,
                            profile], here)
    bad += [] if not status else [err]
    return [("profiles", bad)]


# --- at any moment

def rest(told):
    """What is in no phase: the beginning, which is always the same."""
    return value(told.json) - sum(value(p) for p in
                                  told.json.get("phases", ()))


def signals(exe):
    """Handlers that ask, too, also while the program changes its phase."""
    here, bad = room("signals"), []
    got = [tally_events(here, exe, ["signals", n], *ONLINE)
           for n in ("0", "3", "300", "300")]
    bad += ["%s %s %s" % (t.status, t.out, t.err) for t in got
            if t.status or t.out != "0\n"]
    if not bad and len({rest(t) for t in got}) > 1:
        bad = [str([t.json for t in got])]
    return [("handlers that ask", bad)]


def killed(exe):
    """Phases add up also if it is killed while it changes them."""
    here, seen = room("killed"), []
    for i in range(60):
        if len(seen) == 6:
            break
        with tempfile.NamedTemporaryFile("r", dir=here) as file:
            p = subprocess.Popen(
                [TALLY, "events", "-e", "insns", "--json", *ONLINE,
                 "--output", file.name, "--", exe, "query"], cwd=here,
                env=environment(here), stdin=subprocess.PIPE,
                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                **ALONE)
            p.stdout.readline()
            time.sleep(0.002 * i)
            for pid in run("pgrep", "-P", str(p.pid)).split():
                os.kill(int(pid), signal.SIGKILL)
            finish(p)
            t = Told(p.returncode, "", "", file.read())
        # the thread has come around once, or there is nothing to say
        if left(t):
            seen.append((rest(t), add_up(t)))
    bad = sum((b for _, b in seen), [])
    return [("killed at any moment", bad + (
        [] if seen and len({n for n, _ in seen}) == 1 else [str(seen)]))]


# --- queries

def queries(exe):
    """A thread is always in a phase: phases are all that it does, but for a
    beginning that is always the same."""
    if EMULATED:
        return "an emulator has no ptrace()"
    here = room("queries")
    p = subprocess.Popen(
        [TALLY, "events", "-e", "insns,loads", *ONLINE, "--output",
         here + "/said", "--", exe, "query"], env=environment(here), cwd=here,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, **ALONE)
    p.stdout.readline()
    text = run(TALLY, "query", "--json", "--every", "0.0001", "--times",
               "300", str(p.pid))
    p.communicate("\n")
    said = [json.loads(x + "}") for x in text.split("\n}\n")[:-1]]
    rest, grown, bad = set(), [], []
    for x in said:
        t = Told(0, "", "", json.dumps(x))
        bad += add_up(t)
        if None in t.events.values() or not left(t):
            continue
        rest.add(tuple(n - sum(q["events"][e] for q in x["phases"])
                       for e, n in t.events.items()))
        grown.append([phase(t, "odd"), phase(t, "even"), left(t)])
    bad += ["%s, then %s" % (a, b) for a, b in zip(grown, grown[1:])
            if any(m > n for m, n in zip(a, b))]
    return [("phases of a moment", bad + (
        [] if len(rest) == 1 and len(grown) > 200 else [
            "%d answers, %s" % (len(grown), rest)]))]


# --- what is written of it

def header(name, cc, *more):
    here = room(name)
    if not compiler(count_run.ISA, cc):
        return "no %s" % cc
    page = open("doc/tally-client.3").read()
    example = re.search(r"^\.EX\n(#include.*?)^\.EE", page, re.M | re.S)[1]
    example = example.replace("\\e", "\\").replace("\\-", "-")
    suffix = ".cc" if "+" in cc else ".c"
    with open(here + "/example" + suffix, "w") as f:
        f.write(example)
    a, _ = library(here)
    run(*compiler(count_run.ISA, cc), *more, "-Wall", "-Wextra", "-pedantic",
        "-Werror", "-I" + SOURCES + "/client", "-o", here + "/example",
        f.name, a)
    t = tally_events(here, here + "/example", [], *ONLINE)
    names = [p["name"] for p in t.json.get("phases", ())]
    return [("the manual's example", [] if names and left(t) and re.search(
        r"^\d+ instructions", t.out) else [t.out + t.err + str(names)])]


def jobs():
    for level in ("-O0", "-O2"):
        if count_run.ISA == HOST:
            yield "steps" + level, stepped, "steps" + level, level
    for s in SHAPES:
        yield s[0], shape, *s
    exe = program(room("program"), "-no-pie", *NOW)
    for f in (not_counted, threads, forks, crash, limits, kept, signals,
              killed, *([queries] if count_run.ISA == HOST else [])):
        yield f.__name__, f, exe
    if count_run.ISA == "aarch64":
        yield "moved", moved, exe
    yield "plugin", plugins, "plugin"
    yield "plugin-shared", lambda: plugins("plugin-shared", shared=True)
    yield "c99", header, "c99", "gcc", "-std=c99"
    yield "c++", header, "c++", "g++", "-std=c++98", "-Wno-long-long"


test_all(tap, jobs)
