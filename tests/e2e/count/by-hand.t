#!/usr/bin/env python3
"""
count/by-hand: a copy of a program that is run without tally, among libraries
that are as they were, counts its threads and children: every instruction as
often as `tally count` says, in one profile for all processes, and nothing is
said to be missing. Whoever makes threads and children (the program, C11, C++,
OpenMP, a plugin), however they end, and however the program was linked.
Handlers lose nothing, a sandbox is respected, copies that execute copies share
a profile.
"""
import json
import os
import shutil
import sys

sys.path.insert(0, "tests/lib")
import count_run
from count_run import *

tap = Tap()
COUNT = "../count/"
WORDS = ["threads", "many", "c11", "outlive", "exit", "cancel", "plugin",
         "masks", "tree", "thread-forks", "forks-threads", "handlers",
         "others", "raw", "clone", "quick", "timers",
         "exec"]
# qemu may wait for ever in the child of a thread, aborts if that makes threads,
# calls glibc's handler for cancel with a stack that is not aligned, and
# executes no program of its own
NATIVE = ["thread-forks", "forks-threads", "cancel", "timers", "exec"]
# the C library's code or OpenMP's may run in threads when the process is over
BUSY = "tally: other threads ran when a process ended"
# the end of what glibc's clone() begins has no unwind entry, and may stay
ALLOWED = {"outlive": BUSY, "timers": BUSY, "clone": "tally: process 2 was"}
LINKED = {
    "lazy": ["-Wl,-z,lazy", "-Wl,-z,norelro"],
    "now": ["-Wl,-z,now", "-Wl,-z,relro"],
    "sysv": ["-Wl,--hash-style=sysv"],
    "both": ["-Wl,--hash-style=both", "-rdynamic"],
    "no-pie": ["-no-pie"],
    "no-plt": ["-fno-plt"],
    "relr": ["-Wl,-z,pack-relative-relocs"],
}


def address_of(exe, name):
    return next(s for s, _, n in Names.read(count_run.ISA, exe) if n == name)


def copy_of(exe):
    copy = exe + ".copy"
    run(TALLY, "instrument", exe, "-o", copy)
    return copy


def by_hand(here, copy, args, name="hand", **env):
    """(status, output, messages, profile) of a copy"""
    profile = "%s/%s.tally" % (here, name)
    return *quiet([*emulator(count_run.ISA), copy, *args], here,
                  TALLY_OUT=profile, **env), profile


def complaints(profile, here):
    """What tally has to say of a profile."""
    return quiet([TALLY, "report", profile], here)[2].splitlines()


def compare(here, exe, args, allowed="nothing"):
    """The same program twice; what tally may say of the copy's profile"""
    image = os.path.basename(exe)
    status, _, err, counted = tally_count(here, exe, args, "counted")
    got, _, message, hand = by_hand(here, copy_of(exe), args)
    want, have = told(counted)[image], told(hand)[image]
    bad = ["status %s, want %s: %s" % (got, status, message + err)] \
        if got != status or status else []
    bad += ["%#x: %d, want %d" % (a, have.get(a, 0), n)
            for a, n in want.items() if have.get(a, 0) != n]
    bad += ["only %d are told" % sum(have.values())] \
        if sum(have.values()) < 1000 else []
    return bad[:20] + ["%s: %s" % (os.path.basename(p), c)
                       for p in (counted, hand) for c in complaints(p, here)
                       if not c.startswith(allowed)]


def built(name, sources, *flags, cc="gcc"):
    here = room(name)
    return here, build(here, name, [COUNT + s for s in sources], *flags, cc=cc)


def word(name):
    here, exe = built("hand-" + name, ["hand.c"], "-O2", "-lutil")
    lib = build(here, "plugin.so", [COUNT + "hand-plugin.c"], "-O2", "-shared",
                "-fPIC")
    more = {"plugin": [lib], "exec": [exe]}
    return [(name, compare(here, exe, [name, *more.get(name, [])],
                           ALLOWED.get(name, "nothing")))]


def program(name, source, cc, *flags):
    if not compiler(count_run.ISA, cc):
        return "no %s" % cc
    here, exe = built(name, [source], "-O2", *flags, cc=cc)
    return [(name, compare(here, exe, [],
                           BUSY if "-fopenmp" in flags else "nothing"))]


def linked(name, flags):
    """Threads and children of a program that was linked another way."""
    try:
        here, exe = built("linked-" + name, ["hand.c"], "-O2", "-lutil",
                          *flags)
    except Failed:
        return "the linker has no %s" % " ".join(flags)
    words = ("threads", "thread-forks" if count_run.ISA == HOST else "tree")
    return [(w, compare(here, exe, [w])) for w in words]


def based():
    """A library that makes threads, and was bound before the program began,
    at another distance from where it was linked than from 0."""
    here = room("based")
    lib = build(here, "libplugin.so", [COUNT + "hand-plugin.c"], "-O2",
                "-shared", "-fPIC", "-Wl,-Ttext-segment=0x40000000",
                "-Wl,-z,now", "-Wl,-z,relro", "-Wl,-soname," + here +
                "/libplugin.so")
    exe = build(here, "based", [COUNT + "hand.c"], "-O2", "-lutil",
                "-Wl,--no-as-needed", lib)
    return [("plugin", compare(here, exe, ["plugin", lib]))]


def musl():
    """musl's C library has no gates either, nor has its loader modules."""
    if not shutil.which("musl-gcc"):
        return "no musl-gcc"
    here, exe = built("of-glibc", ["hand.c"], "-O2", "-lutil")
    other = here + "/of-musl"
    run("musl-gcc", "-O2", "-w", "-o", other, *paths([COUNT + "hand.c"]))
    copy, result = copy_of(other), []
    for w in ("threads", "many", "c11", "exit", "cancel", "tree", "clone",
              "thread-forks", "forks-threads", "handlers", "others"):
        want = told(tally_count(here, exe, [w], "counted")[-1])["of-glibc"]
        got, _, err, hand = by_hand(here, copy, [w])
        _, _, _, counted = tally_count(here, other, [w], "of-musl")
        have = [told(p)["of-musl"].get(address_of(other, "work"))
                for p in (hand, counted)]
        want = want[address_of(exe, "work")]
        bad = [] if got == 0 and have == [want, want] else [
            "%s: %s, not %s: %s" % (got, have, want, err)]
        result.append((w, bad + complaints(hand, here)))
    return result


def said():
    """What cannot be seen is said to be missing."""
    here = room("said")
    lib = build(here, "libearly.so", [COUNT + "hand-plugin.c"], "-O2",
                "-shared", "-fPIC", "-DEARLY")
    unseen, result = "not all threads and child processes were seen", []
    shared = "threads had to share counters"
    for name, flags, words, want in (
            ("early", ["-Wl,--no-as-needed", lib], ["threads"], unseen),
            ("own", ["-DOWN", "-rdynamic"], ["threads"], unseen),
            ("written", [], ["writes"], shared),
            ("thread", [], ["clone-thread"], shared)):
        if words == ["clone-thread"] and count_run.ISA != HOST:
            continue    # qemu refuses that
        exe = build(here, name, [COUNT + "hand.c"], "-O2", "-lutil", *flags)
        got, _, err, profile = by_hand(here, copy_of(exe), words)
        text = " ".join(complaints(profile, here))
        result.append((name, [] if got == 0 and want in text else
                       ["%s: %s%s" % (got, err, text)]))
    return result


def families():
    """
    Copies that execute copies count in one profile, and do not take it away
    from each other; those that come later do.
    """
    here, exe = built("families", ["hand.c"], "-O2", "-lutil")
    copy, bad = copy_of(exe), []
    work = address_of(exe, "work")
    os.symlink(copy, here + "/other")
    # 5 children: 110 turns each, then as the other 500; 550 in the first
    for times in (1, 2):
        got, _, err, profile = by_hand(here, copy,
                                       ["exec", here + "/other"])
        have = told(profile)["families"][work]
        want = 550 + 5 * 110 + 4 * 500
        bad += [] if got == 0 and have == want else [
            "%s: %s, not %s: %s" % (got, have, want, err)]
    rows = json.loads(run(TALLY, "report", "--by", "process", "--json",
                          profile))
    bad += [] if len(rows) == 10 else ["%d processes" % len(rows)]
    got, _, err, profile = by_hand(here, copy, ["again", copy])
    have = told(profile)["families"][work]
    bad += [] if got == 0 and have == 40 + 500 else [
        "by itself: %s, %s: %s" % (got, have, err)]
    return [("one profile", bad + complaints(profile, here))]


def locked():
    """A program that may call little from a moment on is not ended by us."""
    here, exe = built("locked", ["hand.c"], "-O2", "-lutil")
    result = []
    for way in ("prctl", "syscall"):
        got, _, err, profile = by_hand(here, copy_of(exe), ["locked", way])
        bad = [] if got == 0 else ["status %s: %s" % (got, err)]
        said = " ".join(complaints(profile, here))
        bad += [said] if "threads had to share counters" not in said or \
            "a child process could not get counters" not in said else []
        result.append((way, bad))
    return result


def signals():
    """Handlers that interrupt counters which they count in: none is lost."""
    here, exe = built("signals", ["hand.c"], "-O2", "-lutil")
    got, out, err, profile = by_hand(here, copy_of(exe), ["signals"])
    work = address_of(exe, "work")
    have = told(profile)["signals"].get(work)
    bad = [] if got == 0 and have == int(out or 0) else [
        "status %s: %s, not %s: %s" % (got, have, out.strip(), err)]
    return [("handlers", bad + complaints(profile, here))]


def jobs():
    if count_run.ISA == HOST:
        yield "locked", locked
        yield "families", families
        yield "signals", signals
        yield "musl", musl
        # under qemu it is at the low address that it was linked for
        yield "based", based
    yield "said", said
    yield from ((w, word, w) for w in WORDS
                if count_run.ISA == HOST or w not in NATIVE)
    yield "std-thread", program, "std-thread", "hand.cc", "g++"
    yield "openmp", program, "openmp", "hand-omp.c", "gcc", "-fopenmp"
    yield from (("linked " + n, linked, n, f) for n, f in LINKED.items())


test_all(tap, jobs)
