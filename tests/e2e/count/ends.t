#!/usr/bin/env python3
"""
count/ends: threads that end in the middle of a block. tests/progs/count/ends.c
ends in all ways; the counts are those of qemu (tests/lib/qemu-ends.c) or, on
the machine itself, of a debugger's steps (tests/tools/step-counts.c), or what
the program itself stored in a file up to that moment, and nobody notices that
tally was there.

An instruction ran if it was completed: one that faults did not, though qemu
has begun it. So where a program faults, qemu has one more there.
"""
import array
import functools
import itertools
import os
import random
import signal
import struct
import subprocess
import sys
import time

sys.path.insert(0, "tests/lib")
from ends import *
from patience import until

tap = Tap()
ENDS = (0, 14, 128 + 11, 128 + 14) # of what a timer ends
NUMBER = itertools.count() # of rooms
# of each kind; tests/sweep/ends.sh has more
RUNS = int(os.environ.get("COUNT_ENDS", "2"))
# a run may say that its end cannot be told: a signal that arrives while a
# handler is being called, before that is noted; on x86-64 also in gates, where
# the way back is not known. So there are more runs, but not so many times more
MORE = {"aarch64": 10, "x86_64": 20}


@functools.lru_cache(maxsize=None)
def oracle(build, *words):
    """(status, output, {address: count}) of the original."""
    here = room("%d" % next(NUMBER))
    status, out = original(here, build.file, words,
                           "qemu-ends,exe=" + build.file, "-singlestep")
    if build.isa == HOST:
        return status, out, ran(here, build.file)
    seen = collections.Counter()
    for name in glob.glob(here + "/ran.*"):
        all_ = array.array("Q", open(name, "rb").read())
        first, last, n = all_[0::3], all_[1::3], all_[2::3]
        assert first == last # one step each
        # most are of code that was translated again, and has not run yet
        for addr, times in itertools.compress(zip(first, n), n):
            seen[addr] += times
    return status, out, seen


def count(build, here, words, *options, **env):
    """(status, output, notes) of a counted run."""
    status, out, err, _ = tally_count(here, build.file, words, "ends",
                                      *options, **env)
    return status, out, [l for l in err.splitlines()
                         if l.startswith("tally: ")]


def counts(build, here):
    return build.counts(run(TALLY, "export", "--format", "tsv",
                            here + "/ends.tally"))


def differences_of(build, want, got, faults):
    """Complaints about counts; a fault: one that qemu has begun only."""
    bad = {a: (want[a], got[a]) for a in set(want) | set(got)
           if want[a] != got[a] and build.compared(a)}
    if faults and build.isa != HOST:
        begun = [a for a, (w, g) in bad.items()
                 if w == g + 1 and build.faults(a)]
        if not begun:
            return ["no instruction was begun and not completed"]
        del bad[begun[0]]
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
    here = room("%d" % next(NUMBER))
    status, out, want = oracle(build, *words)
    for _ in range(20):
        got = count(build, here, words, *options)
        # a thread that should wait has had no processor yet
        if not any(MOVING in n for n in got[2]):
            break
    bad = judge_notes(got[2], notes)
    if got[:2] != (status, out):
        bad.append("%s %s, want %s %s" % (*got[:2], status, out))
    bad += differences_of(build, want, counts(build, here), faults)
    return [(" ".join([*options, *words]), bad)]


def try_random(build, number, before, after, options=()):
    """Ended by a timer; what it stored is what it counted."""
    here = room("%d" % next(NUMBER))
    rng = random.Random(number)
    bad, seen, told = [], 0, 0
    # static programs of x86-64 do not see that handlers return
    unseen = build.own and build.isa == "x86_64" and "jumps" in after
    for n in range(RUNS * MORE[build.isa]):
        if seen and (told >= RUNS or unseen and n >= RUNS):
            break
        file = here + "/marks"
        if os.path.exists(file):
            os.remove(file)
        words = [*before, "marks", file]
        if after[-1] in ("loop", "thread"):
            words += ["timer", str(rng.randrange(20000, 120000))]
        words += after
        status, _, notes = count(build, here, words, *options,
                                 QEMU_SINGLESTEP="1")
        if not os.path.exists(file):
            continue
        want = read_marks(open(file, "rb").read())
        seen += want[13] > 0
        if not any(LOST in n for n in notes):
            told += 1
            bad += [b + "; %s" % notes for b in
                    build.differences(want, counts(build, here))]
        bad += [] if status in ENDS else ["status %d" % status]
    if told < RUNS and not unseen:
        bad.append("only the end of %d runs can be told" % told)
    return [(" ".join([*options, *before, *after]) + ": by a timer", bad +
             ([] if seen else ["it never ran"]))]


def killed(build, here, delay, *words):
    """(status, messages, marks, counts) of a run that is killed"""
    file = here + "/marks"
    if os.path.exists(file):
        os.remove(file)
    p = subprocess.Popen([TALLY, "count", "-o", here + "/ends.tally",
                          *words[:-1], build.file, "marks", file, words[-1]],
                         env=environment(here), cwd=here,
                         stderr=subprocess.PIPE, text=True, **ALONE)
    until(lambda: os.path.exists(file) and any(open(file, "rb").read()), 0.01)
    time.sleep(delay)
    for pid in run("pgrep", "-g", str(p.pid),
                   count_run.EMULATOR if build.isa != HOST else
                   "^ends").split():
        os.kill(int(pid), signal.SIGKILL)
    err = finish(p)[1]
    return p.returncode, err, read_marks(open(file, "rb").read()), \
        counts(build, here)


def try_kill(build):
    """Killed at any moment: what is there is at most one off."""
    here = room("%d" % next(NUMBER))
    rng, bad = random.Random(5), []
    for _ in range(RUNS):
        status, err, want, got = killed(build, here, rng.random() / 5, "loop")
        rows = run(TALLY, "report", "--by", "process", "--json",
                   here + "/ends.tally")
        if status != 128 + 9 or KILLED not in err or \
                '"killed": true' not in rows:
            bad.append("status %d, %s" % (status, err))
        # a procedure that was at work may be unknown: nothing is invented
        bad += ["mark %d: %d, want %d" % (n, sum(got[a] for a in at), want[n])
                for n, at in build.marks().items()
                if sum(got[a] for a in at) not in
                (0, want[n] - 1, want[n], want[n] + 1)]
    return [("killed", bad)]


def try_traced(build, number, *words):
    """The same with --trace-kill: exact, or it says that it is not."""
    here = room("%d" % next(NUMBER))
    rng, bad, told = random.Random(number), [], 0
    for _ in range(RUNS * MORE[build.isa]):
        if told == RUNS:
            break
        status, err, want, got = killed(build, here, rng.random() / 5,
                                        "--trace-kill", "--quiet", *words)
        if LOST in err:
            continue
        told += 1
        bad += build.differences(want, got)
        bad += ["status %d: %s" % (status, err)] if err or \
            status != 128 + 9 else []
    if told < RUNS:
        bad.append("only the end of %d runs can be told" % told)
    return [(" ".join(words) + ": killed, and traced", bad)]


def try_moving(build):
    here = room("%d" % next(NUMBER))
    status, _, notes = count(build, here, ["marks", here + "/marks", "among"])
    return [("while another thread runs", judge_notes(notes, [MOVING]) +
             ([] if status == 3 else ["status %d" % status]))]


def try_overflow(build):
    """There is no room for a handler: the kernel ends it alone."""
    here = room("%d" % next(NUMBER))
    status, _, notes = count(build, here, ["overflow"])
    return [("no stack is left", judge_notes(notes, [KILLED]) +
             ([] if status == 128 + 11 else ["status %d" % status]))]


def todo():
    where = count_run.where
    plain = Build(where, "ends", "-O2")
    static = Build(where, "ends-static", "-O2", "-static")
    slow = Build(where, "ends-plain", "-O0")
    fixed = Build(where, "ends-fixed", "-O2", "-no-pie")
    for words, faults, notes in SURE:
        # emulators number signals otherwise, and an emulated tally sees it
        if words != ["raise", "34"] or not EMULATED:
            yield try_sure, plain, words, faults, notes
    for build in (static, slow, fixed):
        for words, faults, notes in SURE[1:8] + SURE[-5:-2]:
            yield try_sure, build, words, faults, notes
    for i, p in enumerate(["vertices", "vertex-edges", "redundant"]):
        options = ["--placement", p]
        for words, faults, notes in SURE[1:6]:
            yield try_sure, plain, words, faults, notes, options
        yield try_random, plain, 10 + i, [], ["loop"], options
    for i, build in enumerate((plain, static, slow, fixed)):
        yield try_random, build, i, [], ["loop"]
    yield try_random, plain, 20, [], ["thread"]
    yield try_random, fixed, 21, [], ["thread"]
    yield try_random, plain, 22, ["child"], ["loop"]
    for i, build in enumerate((plain, static, slow, fixed)):
        yield try_random, build, 30 + i, [], ["jumps", "15"]
    for i, words in enumerate((["returns", "30"], ["aside"],
                               ["exit-handler", "loop"],
                               ["end-handler", "loop"],
                               ["returns", "10", "jumps", "25"])):
        yield try_random, plain, 40 + i, [], words
    yield try_kill, plain
    # an emulator has no ptrace(): tests/sweep/killed.sh
    if plain.isa == HOST:
        for i, words in enumerate((["loop"], ["crew"], ["thread"],
                                   ["--calls", "loop"])):
            for build in (plain, static, slow)[:3 if i < 2 else 1]:
                yield try_traced, build, 50 + i, *words
    yield try_moving, plain
    yield try_overflow, plain


test_all(tap, lambda: ((build.name, f, build, *words)
                       for f, build, *words in todo()), "qemu-ends")
