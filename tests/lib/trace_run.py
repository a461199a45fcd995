#!/usr/bin/env python3
"""
trace_run: what a program did, as `tally replay` regenerates it from a trace,
and as single steps of the original tell it (tests/tools/step-counts.c, or
qemu-steps.c for the other machine).

    trace_run.py [--isa ISA] [--libs] [--encoding NAME].. [--around N] PROGRAM [ARG..]

prints where the two differ first, of each encoding and thread. Both are lists
of places, one for each instruction that was completed, in order:

    an index of the image << ADDRESS_BITS | the address in its file

Compared are instructions of the program's own file, or, with --libs, those of
all files but the loader. The lists begin with the first instruction of main():
what comes before counts the variables of the environment, of which tally adds
some. Left out is code that stays in place: stubs of the linker, and what `tally
instrument` says. Of a program that is killed by a signal the last branches may
be missing.
"""
import argparse
import array
import collections
import functools
import glob
import itertools
import json
import os
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import count_run
from call_code import STUBS
from count_run import *
from objdump_text import Bytes

ENCODINGS = "witness", "bits", "every-branch"
PLUGIN, INTERRUPTS = "qemu-steps", "qemu-signals"
ADDRESS_BITS = 48
# what step-counts writes beside instructions (step_trace.h)
MARKS = 16
# what a replay may print at most: a broken one may never end
MOST = 200 << 20
# instructions of the last 64 branches, and of calls between them
LOST = 600
CUT_OFF, KILLED = "lost: up to 64 branches", "a signal ended the process"
# what is the same with tally and without, as far as the program may see
STEADY = {"LD_BIND_NOW": "1", "MALLOC_TRIM_THRESHOLD_": "10000000"}


class Images:
    """Files, by number; a file has what stays in place of it."""

    def __init__(self, where):
        self.where, self.number, self.path = where, {}, []

    def of(self, path):
        if path not in self.number:
            self.number[path] = len(self.path)
            self.path.append(path)
        return self.number[path]

    @functools.lru_cache(None)
    def untraced(self, path):
        """Addresses that are not traced; None: all"""
        name = os.path.basename(path)
        if not os.path.isfile(path) or name.startswith("ld-linux"):
            return None
        out = set()
        for n, (r, code) in Bytes(path).sections().items():
            if code and STUBS.match(n):
                out.update(r)
        try:
            said = json.loads(run(TALLY, "instrument", "--json", path, "-o",
                                  self.where + "/copy"))
        except Failed:
            return None
        for r in said["in_place"]:
            out.update(range(int(r["start"], 16), int(r["end"], 16)))
        return out

    def traced(self, path, at):
        """The place of an address, or None."""
        left_out = self.untraced(path)
        if left_out is None or at in left_out:
            return None
        return place(self.of(path), at)


def place(image, address):
    return image << ADDRESS_BITS | address


def is_of(places, ranges):
    """What of these places is in one of the ranges."""
    known = {p: any(p in r for r in ranges) for p in set(places)}
    return array.array("Q", (p for p in places if known[p]))


# --- single steps

def plugins():
    return () if count_run.ISA == HOST else (PLUGIN, INTERRUPTS)


def auditor(here):
    """A library for LD_AUDIT: with tally the loader has one, too, and locks
    once more for it when the program ends."""
    source, lib = here + "/audit.c", here + "/audit.so"
    if not os.path.exists(lib):
        with open(source, "w") as f:
            f.write("unsigned la_version(unsigned v) { return v; }\n")
        run(*compiler(count_run.ISA, "gcc"), "-shared", "-fPIC", "-nostdlib",
            "-o", lib, source)
    return lib


def stepper(here):
    """The words before a program that is stepped."""
    audit = "LD_AUDIT=" + auditor(here)
    if count_run.ISA == HOST:
        return ["env", audit, STEPS, "-s", here + "/ran"]
    return [count_run.EMULATOR, "-singlestep", "-E", audit, "-plugin",
            "%s/%s.so,out=%s/ran," % (count_run.where, PLUGIN, here)]


def steps(images, here, words, env=STEADY):
    """(status, output, {(process, thread): places}), numbered from 0"""
    for name in glob.glob(here + "/ran.*"):
        os.remove(name)
    got = quiet([*stepper(here), *words], here, **env)
    threads = collections.defaultdict(list)
    for name in glob.glob(here + "/ran.steps.*"):
        pid, tid = map(int, name.split(".")[-2:])
        threads[pid].append(tid)
    out = {}
    for i, pid in enumerate(sorted(threads)):
        # the first thread has the process's number
        order = sorted(threads[pid], key=lambda t: (t != pid, t))
        for j, tid in enumerate(order):
            out[i, j] = read_steps(images, here, pid, tid)
    return got[0], got[1], out


def read_steps(images, here, pid, tid):
    maps = []
    for name in glob.glob("%s/ran.maps.%d" % (here, pid)):
        with open(name) as f:
            for line in f:
                start, end, delta, path = line.rstrip("\n").split(" ", 3)
                maps.append((int(start, 16), int(end, 16), int(delta, 16),
                             path))
    maps.reverse()
    known, a = {}, array.array("Q")
    with open("%s/ran.steps.%d.%d" % (here, pid, tid), "rb") as f:
        a.frombytes(f.read())

    def look(pc):
        for start, end, delta, path in maps:
            if start <= pc < end:
                return images.traced(path,
                                     pc - delta & (1 << ADDRESS_BITS) - 1)
        return None
    out = array.array("Q")
    for pc in itertools.islice(a, 0, None, 2):
        if not pc:
            break
        if pc < MARKS:
            continue
        if pc not in known:
            known[pc] = look(pc)
        if known[pc] is not None:
            out.append(known[pc])
    return out


# --- traces

def trace(here, encoding, words, env=STEADY, name=None):
    """(status, output, messages, file) of a run that was recorded"""
    file = "%s/%s.trace" % (here, name or encoding)
    return *quiet([TALLY, "trace", "--encoding", encoding, "-o", file, "--",
                   *words], here, **env), file


class Path:
    """What replay says of a thread."""

    def __init__(self):
        self.at = array.array("Q")
        self.n = 0      # instructions, with those that are left out
        self.said = []  # (number of instructions before, remark)
        self.bad = []


def replay(images, file):
    """{(process, thread): Path}, numbered from 0"""
    p = subprocess.Popen([TALLY, "replay", "--as", "insns", file],
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    out, numbers, path, known = {}, {}, None, {}
    paths = {os.path.basename(p): p for p in images.path}
    size = 0
    for line in p.stdout:
        size += len(line)
        if size > MOST:
            p.kill()
            path.bad.append("it does not end")
            break
        if not line.startswith(b"#"):
            at = known.get(line)
            if at is None:
                image, address = line.decode().rstrip("\n").split("\t")
                at = known[line] = images.traced(paths.get(image, image),
                                                 int(address, 16))
            path.n += 1
            if at is not None:
                path.at.append(at)
        elif line.startswith(b"# process "):
            w = line.split()
            process = numbers.setdefault(int(w[2]), len(numbers))
            path = out.setdefault((process, int(w[4])), Path())
        else:
            path.said.append((path.n, line[2:-1].decode()))
    err = p.stderr.read().decode()
    if p.wait() and not (path and path.bad):
        raise Failed("replay: %s %s" % (p.returncode, err))
    return out


def end_of(path):
    return path.said[-1][1] if path.said else None


# --- comparison

class Symbols:
    def __init__(self, images):
        self.images = images

    @functools.lru_cache(None)
    def table(self, path):
        found = []
        nm = tool(count_run.ISA, "nm"), "-n", "--defined-only"
        for line in run(*nm, path).splitlines() or \
                run(*nm, "-D", path).splitlines():
            w = line.split()
            if len(w) == 3 and w[1] in "tTwWiu":
                found.append((int(w[0], 16), w[2]))
        return found

    def name(self, p):
        path = self.images.path[p >> ADDRESS_BITS]
        at = p & (1 << ADDRESS_BITS) - 1
        found = self.table(path)
        i = bisect.bisect(found, (at, "~")) - 1
        return "%s %#x %s" % (os.path.basename(path), at, "%s+%#x" % (
            found[i][1], at - found[i][0]) if i >= 0 else "?")


def first_difference(a, b):
    """Where two arrays differ first, or None."""
    if a == b:
        return None
    lo, hi = 0, min(len(a), len(b))
    while lo < hi:
        mid = (lo + hi + 1) // 2
        if a[lo:mid] == b[lo:mid]:
            lo = mid
        else:
            hi = mid - 1
    return lo


def differ(images, want, got, around=3):
    """Complaints about a list of places."""
    i = first_difference(want, got)
    if i is None:
        return []
    names = Symbols(images)
    out = ["instruction %d of %d, %d by replay:" % (i, len(want), len(got))]
    for j in range(max(0, i - around), i):
        out.append("  %d both   %s" % (j, names.name(want[j])))
    for who, a in ("steps ", want), ("replay", got):
        for j in range(i, min(len(a), i + around)):
            out.append("  %d %s %s" % (j, who, names.name(a[j])))
    return out


def compare(images, main, want, path, own=None, killed=False, around=3):
    """
    Complaints about a thread: `want` are places, of single steps. own: places
    that are compared, a list of ranges; None: all.
    """
    got, end = path.at, end_of(path)
    want, got = from_main(main, want, got)
    if own is not None:
        want, got = is_of(want, own), is_of(got, own)
    if killed and end == CUT_OFF and 0 < len(want) - len(got) < LOST:
        want = want[:len(got)]
    bad = path.bad + differ(images, want, got, around)
    if bad:
        bad += ["at %d: %s" % x for x in path.said
                if not x[1].startswith("gap: ")][:6]
    return bad


def from_main(main, *lists):
    """
    What comes from the first instruction of main() on; if that stays in
    place, of its file.
    """
    starts = [main] if all(main in a for a in lists) else \
        of_image(main >> ADDRESS_BITS)[0]
    return [a[next((i for i, p in enumerate(a) if p in starts), 0):]
            for a in lists]


def of_image(image):
    """Its places: a list of ranges."""
    return [range(place(image, 0), place(image + 1, 0))]


def of_names(images, exe, names, twin=None):
    """Those of procedures of the program that are called so, and others like
    NAME.cold"""
    image = images.of(exe)
    return [range(place(image, a), place(image, a + n))
            for a, n, name in Names.read(count_run.ISA, twin or exe)
            if name.split(".")[0] in names]


def main_of(images, exe, twin=None):
    """The place of main(); `twin` has symbols."""
    at = [a for a, _, n in Names.read(count_run.ISA, twin or exe)
          if n == "main"]
    return place(images.of(exe), at[0] if at else 0)


ENDS = "the process ended", "the thread ended", \
    "the process executed another program"


def counted(path, image):
    """{address: how often} of a thread's instructions of an image"""
    low = (1 << ADDRESS_BITS) - 1
    return {p & low: n for p, n in collections.Counter(path.at).items()
            if p >> ADDRESS_BITS == image}


def differ_counts(images, path, want, have):
    """Complaints about {address: how often} of a file."""
    bad = ["%#x: %d, counted %d" % (a, have[a], want[a])
           for a in sorted(have.keys() & want.keys()) if have[a] != want[a]]
    bad += ["%#x: %d, not counted" % (a, have[a])
            for a in sorted(have.keys() - want.keys())]
    return bad + ["%#x: counted %d" % (a, n) for a, n in sorted(want.items())
                  if n and a not in have and
                  images.traced(path, a) is not None]


def judge_counts(here, exe, args=(), encodings=ENCODINGS, env=STEADY,
                 libs=()):
    """
    [(what, complaints)]: what a replay tells, of the program's file and of
    these libraries, is as often as is counted.
    """
    got, text, err, profile = tally_count(here, exe, args, "count", **env)
    want, out = told(profile), []
    for e in encodings:
        images = Images(here)
        for f in exe, *libs:
            images.of(f)
        *ran, err, file = trace(here, e, [exe, *args], env)
        bad = [] if ran == [got, text] else [str(ran), err]
        said = replay(images, file)
        os.remove(file)
        n = 0
        for f in exe, *libs:
            have = collections.Counter()
            for path in said.values():
                have.update(counted(path, images.of(f)))
            more = differ_counts(images, f, want.get(os.path.basename(f), {}),
                                 have)
            bad += ["%s %s" % (os.path.basename(f), x) for x in more]
            bad += [] if have else ["nothing of %s" % f]
            n += sum(have.values())
        for path in said.values():
            bad += path.bad
        out.append(("%s, %d counts" % (e, n), bad))
    return out


def judge(here, exe, args=(), encodings=ENCODINGS, libs=False, env=STEADY,
          around=3, tidy=True, twin=None, names=None):
    """[(what, complaints)]: of the run, and of each encoding"""
    images = Images(here)
    words = [exe, *args]
    main = main_of(images, exe, twin)
    own = of_names(images, exe, names, twin) if names else \
        None if libs else of_image(images.of(exe))
    status, output, wanted = steps(images, here, words, env)
    if tidy:
        for name in glob.glob(here + "/ran.*"):
            os.remove(name)
    out = []
    for e in encodings:
        got, text, err, file = trace(here, e, words, env)
        bad = [] if (got, text) == (status, output) else [
            "status %s, want %s" % (got, status), text[:200], output[:200],
            err[:200]]
        try:
            said = replay(images, file)
        except Failed as x:
            out.append((e, bad + [str(x)]))
            continue
        if tidy:
            os.remove(file)
        for key in sorted(set(wanted) | set(said)):
            if key not in said:
                bad.append("process %d thread %d is not in the trace" % key)
                continue
            more = compare(images, main, wanted.get(key, ()), said[key], own,
                           status >= 128, around)
            if end_of(said[key]) not in (ENDS if status < 128 else
                                         (*ENDS, CUT_OFF, KILLED)):
                more.append("ends with: %s" % end_of(said[key]))
            bad += ["process %d thread %d: %s" % (*key, x) for x in more]
        n = sum(len(p.at) for p in said.values())
        out.append(("%s, %d instructions" % (e, n),
                    bad if n else bad + ["nothing"]))
    return out


# --- signals that arrive anywhere: of a program with progs/trace/interrupts.c

HANDLER = "on_interrupt"
HANDLING = HANDLER, "interrupt_plus", "interrupt_minus", "interrupt_twice"
PERIOD = 12


def without(places, ranges):
    known = {p: any(p in r for r in ranges) for p in set(places)}
    return array.array("Q", (p for p in places if not known[p]))


def check_handlers(images, exe, places, sent):
    """Complaints about what handlers did: PERIOD calls later the same."""
    begin = of_names(images, exe, [HANDLER])[0][0]
    starts = [i for i, p in enumerate(places) if p == begin]
    calls = [places[a:b] for a, b in zip(starts, starts[1:] + [len(places)])]
    bad = ["%d calls of the handler, %d signals" % (len(calls), sent)] \
        if len(calls) != sent or starts[:1] != [0] else []
    bad += ["call %d of the handler is not as %d was" % (i, i % PERIOD)
            for i, c in enumerate(calls) if c != calls[i % PERIOD]]
    return bad[:5]


def judge_interrupts(here, exe, every, encodings=ENCODINGS, within=None,
                     env=STEADY):
    """
    [(what, complaints)]: signals arrive in code of the program's file as it is
    traced, inserted code and all, or of another file. Without what handlers do
    it did what it does without signals. Of a static program it is only asked
    that the replay is never lost: there handlers do not say that they return,
    and when a signal has arrived in tally's own code, which is in the file as
    well, is not known.
    """
    images = Images(here)
    main = main_of(images, exe)
    status, output, wanted = steps(images, here, [exe], env)
    handling = of_names(images, exe, HANDLING)
    own = of_image(images.of(exe))
    plugin = "%s/%s.so,out=%s/sent,in=%s,every=%d,seed=%d" % (
        count_run.where, INTERRUPTS, here, within or os.path.basename(exe),
        every, every)
    out = []
    for e in encodings:
        got, text, err, file = trace(here, e, [exe], {
            **env, "QEMU_SINGLESTEP": "1", "QEMU_PLUGIN": plugin})
        bad = [] if (got, text) == (status, output) else [
            "status %s, want %s" % (got, status), text[:200], err[:200]]
        name, = glob.glob(here + "/sent.*")
        sent = int(open(name).read())
        os.remove(name)
        path = replay(images, file)[0, 0]
        if b"/ld-" in open(exe, "rb").read(4096):
            bad += check_handlers(images, exe, is_of(path.at, handling), sent)
            path.at = without(path.at, handling)
            bad += compare(images, main, wanted[0, 0], path, own)
        bad += ["at %d: %s" % x for x in path.said[:-1]
                if not x[1].startswith(("gap: ", "signal ", "its handler"))]
        if end_of(path) not in ENDS:
            bad.append("ends with: %s" % end_of(path))
        out.append(("%s, %d signals" % (e, sent), bad if sent else
                    bad + ["no signal arrived"]))
    return out


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--isa", choices=ISAS, default=HOST)
    ap.add_argument("--libs", action="store_true")
    ap.add_argument("--encoding", action="append")
    ap.add_argument("--around", type=int, default=3)
    ap.add_argument("--interrupt", type=int, metavar="N",
                    help="by signals behind one of N instructions")
    ap.add_argument("--lazy", action="store_true",
                    help="stubs are bound as they are called")
    ap.add_argument("program")
    ap.add_argument("arg", nargs=argparse.REMAINDER)
    args = ap.parse_args()
    env = {k: v for k, v in STEADY.items()
           if not (args.lazy and k == "LD_BIND_NOW")}
    count_run.use(args.isa)
    status = 0
    with tempfile.TemporaryDirectory() as here:
        begin(os.environ.get("WHERE", here), *plugins())
        exe = os.path.realpath(args.program)
        found = judge_interrupts(count_run.where, exe, args.interrupt,
                                 args.encoding or ENCODINGS) \
            if args.interrupt else \
            judge(here, exe, args.arg, args.encoding or ENCODINGS, args.libs,
                  env, args.around)
        for what, bad in found:
            print("%s: %s" % (what, "differs" if bad else "same"))
            for line in bad:
                print("  " + line)
            status |= bool(bad)
    return status


if __name__ == "__main__":
    sys.exit(main())
