"""
query_run: programs under `tally events` that are asked while they run, and the
ways that their threads go, step by step. What is said of all events of a thread
at once has to be a point of its way; so a number that is off by one is found,
and so are two that are of different moments.
"""
import array
import glob
import itertools
import re
import subprocess

from events_run import *

ASKED = ["insns", "calls", "returns", "branches", "taken", "syscalls"]
NOW = ["-Wl,-z,now"]


class Running:
    """A program under `tally events` that has begun."""

    def __init__(self, here, exe, *options, args=(), events=ASKED):
        self.p = subprocess.Popen(
            [TALLY, "events", "-e", ",".join(events), *options, "--output",
             here + "/said", "--", exe, *args], env=environment(here),
            cwd=here, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True, **ALONE)
        self.first = self.p.stdout.readline()
        self.pid = int(run("pgrep", "-P", str(self.p.pid)).split()[0])

    def query(self, *words, pid=None):
        p = subprocess.run([TALLY, "query", *words, str(pid or self.pid)],
                           stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                           stderr=subprocess.PIPE, text=True)
        return p.returncode, p.stdout, p.stderr

    def end(self):
        out, err = self.p.communicate()
        return self.p.returncode, out, err


def objects(text):
    """JSON objects, one after the other."""
    decode, at, out = json.JSONDecoder().raw_decode, 0, []
    while text[at:].strip():
        at += len(text[at:]) - len(text[at:].lstrip())
        value, at = decode(text, at)
        out.append(value)
    return out


# --- the way of a thread

def deltas(code, trace):
    """What each instruction of a trace adds to what is counted."""
    kinds, known = dict(KINDS[HOST]), {}
    for a, next_ in zip(trace, trace[1:]):
        if (a, next_) not in known:
            text = text_at(code, a)
            taken = re.match(kinds["branches"], text) and (
                not re.match(CONDITIONS[HOST], text) or
                next_ != code.at(a)[0])
            known[a, next_] = tuple(
                1 if e == "insns" else int(bool(taken)) if e == "taken"
                else int(bool(re.match(kinds[e], text))) for e in ASKED)
        yield known[a, next_]


class Way:
    """
    All that a thread has counted at each point of its way, which begins
    somehow and then is the same turn for ever.
    """

    def __init__(self, code, trace, turn):
        self.points = [(0,) * len(ASKED)]
        for d in deltas(code, trace):
            self.points.append(tuple(map(sum, zip(self.points[-1], d))))
        starts = [i for i, a in enumerate(trace[:-1]) if a == turn]
        self.starts = starts
        self.trouble = [] if len(starts) > 4 else [
            "only %d turns" % len(starts)]
        if self.trouble:
            return
        self.first, self.second = starts[2:4]
        self.length = self.second - self.first
        self.trouble = [] if all(
            self.at(i) == p for i, p in enumerate(self.points)) else [
            "its turns are not the same"]

    def at(self, n):
        """What has been counted behind n instructions."""
        if n < self.second:
            return self.points[n]
        k, j = divmod(n - self.first, self.length)
        return tuple(v + k * (b - a) for v, a, b in zip(
            self.points[self.first + j], self.points[self.first],
            self.points[self.second]))

    def begun(self, n):
        """How many turns have begun behind n instructions."""
        if n < self.second:
            return sum(s < n for s in self.starts)
        k, j = divmod(n - self.first, self.length)
        return 2 + k + (j > 0)

    def judge(self, vectors):
        """Complaints about what was said, in that order."""
        bad = ["%s, then %s" % (a, b)
               for a, b in itertools.pairwise(vectors) if any(
                   x is None or y is None or x > y for x, y in zip(a, b))]
        off = [v for v in vectors if v[0] is not None and
               tuple(v) != self.at(v[0])]
        return bad + (["%d of %d are no point of the way: %s" % (
            len(off), len(vectors), off[0])] if off else [])


def stepped_ways(here, exe, *args):
    """The ways of a program's threads, in the order in which they begin."""
    p = subprocess.Popen([STEPS, "-t", here + "/ran", exe, *args], cwd=here,
                         env=environment(here), stdin=subprocess.PIPE,
                         stdout=subprocess.PIPE, text=True, **ALONE)
    p.stdout.readline()
    p.communicate()
    code = Code(HOST, exe)
    turn = next(s for s, _, n in Names.read(HOST, exe) if n == "turn")
    for file in sorted(glob.glob(here + "/ran.trace.*"),
                       key=lambda f: int(f.split(".")[-1])):
        yield Way(code, [a for a in array.array("Q", open(
            file, "rb").read()) if a in code.insn], turn)
