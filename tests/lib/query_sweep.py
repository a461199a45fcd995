#!/usr/bin/env python3
"""
query_sweep: asks programs that run for their counts, as often as is said.

    query_sweep.py WORK TIMES [NAME...]

Programs of threads that do the same turn for ever (tests/progs/events/turns.c)
are asked by ask-often, which uses what `tally query` does, and one question in
a hundred by the command itself. Wrong is a number that

- is no point of the thread's way through the original, as single steps see it,
  with all that is counted taken together (query_run.py);
- is of a moment before the question or behind the answer, by what the thread
  says itself about the turns that it has begun;
- is less than what was said before.

Unknown is not wrong, but counted. TAP, one test for each program.
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import count_run
from query_run import *

ASKER = os.path.join(os.path.dirname(STEPS), "ask-often")
TURNS = "../events/turns.c"
FILE_SIZE = 64 * 64 # of turns.h
SHOWN = 5
# (name, flags, threads, options of `tally events`, share of the questions)
CASES = [
    ("calls", ["-O2"], "c", [], 22),
    ("calls-O0", ["-O0"], "cc", [], 10),
    ("memory", ["-O3"], "m", [], 20),
    ("jumps", ["-O1"], "j", [], 15),
    ("handlers", ["-O2"], "h", [], 10),
    ("system-calls", ["-O2"], "s", [], 15),
    ("all", ["-Os"], "csjhm", [], 1),
    ("call-costs", ["-O2"], "cj",
     ["--per-call-site", "-o", "costs.tally"], 7),
]


class Judge:
    """What was said of each thread, as it comes."""

    def __init__(self, ways):
        self.ways, self.last = ways, {}
        self.answers = self.unknown = self.wrong = 0
        self.places = [set() for _ in ways]
        self.shown = []

    def complain(self, *words):
        self.wrong += 1
        if len(self.shown) < SHOWN:
            self.shown.append(" ".join(map(str, words)))

    def take(self, tid, thread, vector, before=None, after=None):
        """thread: which of them began, 0 is the first of all."""
        self.answers += 1
        if None in vector:
            self.unknown += 1
            return
        was = self.last.get(tid, vector)
        self.last[tid] = vector
        if any(a > b for a, b in zip(was, vector)):
            self.complain(tid, was, "then", vector)
        if not thread:
            return
        way, n = self.ways[thread], vector[0]
        if way.at(n) != vector:
            self.complain(tid, vector, "is not on the way:", way.at(n))
        self.places[thread].add((n - way.first) % way.length)
        begun = way.begun(n)
        # a turn says so a moment after it has begun
        if before is not None and not before <= begun <= after + 1:
            self.complain(tid, vector, "is of turn", begun, "asked in",
                          before, "to", after)


def ask(judge, r, file, times):
    """times questions, by the quick asker and by the command."""
    thread = {}
    with subprocess.Popen([ASKER, str(r.pid), str(times - times // 100), file],
                          stdout=subprocess.PIPE, text=True) as p:
        for line in p.stdout:
            w = line.split()
            tid = int(w[0])
            # they are said in the order in which they began
            at = thread.setdefault(tid, len(thread))
            judge.take(tid, at, tuple(
                None if x == "-" else int(x) for x in w[3:]),
                *(map(int, w[1:3]) if at else ()))
    bad = [] if p.returncode == 0 else ["ask-often: %d" % p.returncode]
    if times // 100:
        status, out, err = r.query("--json", "--every", "0", "--times",
                                   str(times // 100))
        said = objects(out)
        for x in said:
            for t in x["processes"][0]["threads"]:
                judge.take(t["tid"], thread[t["tid"]],
                           tuple(t["events"].values()))
        bad += [] if not status and len(said) == times // 100 else [
            "%d answers, %s" % (len(said), err)]
    return bad


def case(name, flags, kinds, options, times):
    here = room(name)
    file = here + "/turns"
    exe = build(here, name, [TURNS], "-Itests/lib", "-no-pie", *NOW, *flags)

    def begin_file():
        with open(file, "wb") as f:
            f.truncate(FILE_SIZE)

    begin_file()
    ways = list(stepped_ways(here, exe, file, kinds))
    bad = sum((w.trouble for w in ways[1:]), [])
    if bad or len(ways) != len(kinds) + 1:
        return "", bad or ["%d threads" % len(ways)]
    begin_file()
    r = Running(here, exe, "--online", "--libs", "none", *options,
                args=[file, kinds])
    judge = Judge(ways)
    bad = ask(judge, r, file, times)
    status, _, err = r.end()
    bad += [err] if status else []
    bad += ["%d of %d are wrong" % (judge.wrong, judge.answers),
            *judge.shown] if judge.wrong else []
    asked = times * len(ways)
    bad += [] if judge.answers == asked else [
        "%d answers, not %d" % (judge.answers, asked)]
    return "%d questions, %d counts, %d unknown, at %s of %s places" % (
        times, judge.answers, judge.unknown,
        "+".join(str(len(x)) for x in judge.places[1:]),
        "+".join(str(w.length) for w in ways[1:])), bad


def main():
    work, times, only = sys.argv[1], int(sys.argv[2]), sys.argv[3:]
    tap, all_ = Tap(), sum(c[-1] for c in CASES)
    use(HOST)
    begin(work)
    for *words, share in CASES:
        if only and words[0] not in only:
            continue
        said, bad = case(*words, max(1, times * share // all_))
        tap.ok(not bad, "%s: %s" % (words[0], said), bad)
    tap.done()


if __name__ == "__main__":
    main()
