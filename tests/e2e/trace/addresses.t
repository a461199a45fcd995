#!/usr/bin/env python3
"""
trace/addresses: what `tally replay --as addresses` tells is what the program
accessed, byte by byte. On x86-64 the traced program itself runs one step at a
time while it is recorded, and its registers say where each instruction of the
original accesses memory (tests/tools/step-accesses.c). Of AArch64 an emulator
says what the traced program accesses (tests/lib/qemu-touched.c). Nothing of that
is unknown. What other formats have is the same.

    addresses.t [MACHINE].. [NAME]..
"""
import collections
import functools
import glob
import json
import os
import struct
import subprocess
import sys

sys.path.insert(0, "tests/lib")
import count_run
from call_compare import Case
from count_run import *
from trace_run import HANDLING

tap = Tap()
STEP = os.path.join(os.path.dirname(STEPS), "step-accesses")
TOUCHED = os.path.join(os.path.dirname(STEPS), "list-touched")
TRACE, PLUGIN = "../trace/", "qemu-touched"
INTERRUPTS = TRACE + "interrupts.c"
# what it is emulated as: without vectors whose size is not known
PLAIN, ATOMICS = "cortex-a57", "neoverse-n1"


def stepped(here, words, *flags):
    """The trace, and its accesses as lines of each thread in order."""
    trace = here + "/trace"
    got = quiet([STEP, here + "/ran", TALLY, "trace", "--addresses", *flags,
                 "-o", trace, "--", *words], here)
    lines = []
    for name in in_order(here + "/ran.*"):
        with open(name) as f:
            lines += f.read().splitlines()
    return trace, got, lines


def in_order(pattern):
    """Files NAME.PID.TID"""
    return sorted(glob.glob(pattern), key=lambda name:
                  [int(n) for n in name.split(".")[-2:]])


def emulated(here, words, *flags, cpu=PLAIN, every=0):
    """The same, by an emulator; signals arrive behind one of `every`
    instructions of the program's file."""
    trace = here + "/trace"
    plugin = "%s/%s.so,out=%s/ran" % (count_run.where, PLUGIN, here)
    more = {}
    if every:
        plugin += ",in=%s,every=%d,seed=%d" % (os.path.basename(words[0]),
                                               every, every)
        more = {"QEMU_SINGLESTEP": "1"}
    got = quiet([TALLY, "trace", "--addresses", *flags, "-o", trace, "--",
                 *words], here, QEMU_CPU=cpu, QEMU_PLUGIN=plugin, **more)
    lines = []
    for name in in_order(here + "/ran.steps.*"):
        lines += run(TOUCHED, here + "/ran",
                     *name.split(".")[-2:]).splitlines()
        os.remove(name)
    return trace, got, lines


def replayed(trace, *flags):
    return run(TALLY, "replay", *flags, trace).splitlines()


def place(line):
    return tuple(line.split("\t", 2)[:2])


def agree(step, told, unknown):
    """Is it the access that was seen? `unknown`: it may be told as that. What
    is seen and how not is a store that did not happen."""
    (*what, at, size), (*that, where, much) = step.split("\t"), \
        told.split("\t")
    return what == that and ((at, size) == (where, much) or at == "?" or
                             (unknown and where == "?"))


def apart(exe, lines):
    """Those of the program's file, but for what handlers of signals do: when
    that was is not told exactly everywhere (paths.t)."""
    handling = [range(a, a + n) for a, n, name in
                Names.read(count_run.ISA, exe) if name in HANDLING]
    name, left_out, out = os.path.basename(exe), {}, []
    for line in lines:
        at = place(line)
        if at not in left_out:
            left_out[at] = at[0] != name or any(int(at[1], 16) in r
                                                for r in handling)
        if not left_out[at]:
            out.append(line)
    return out


def compare(here, words, *flags, unknown=False, **how):
    """What is wrong, or None."""
    native = count_run.ISA == HOST
    trace, got, steps = (stepped if native else emulated)(here, words, *flags,
                                                          **how)
    plain = quiet([*([] if native else [count_run.EMULATOR]), *words], here)
    if got[:2] != plain[:2]:
        return "it did something else: %s %s" % (got[0], got[2][:300])
    told = [l for l in replayed(trace, "--as", "addresses") if l[0] != "#"]
    if "every" in how:
        steps, told = apart(words[0], steps), apart(words[0], told)
    # loads of jump tables that the rewritten code does not do are told: they
    # are the original's
    ran = set(map(place, steps))
    told = [l for l in told if place(l) in ran]
    if len(steps) < 1000:
        return "it accessed memory %d times" % len(steps)
    for i, (a, b) in enumerate(zip(steps, told)):
        if not agree(a, b, unknown):
            return "access %d is %r, told as %r" % (i, a, b)
    if len(steps) != len(told):
        return "%d accesses, %d told" % (len(steps), len(told))
    return None


def program(name, source, *flags, cc="gcc", words=(), options=(), **how):
    if not compiler(count_run.ISA, cc):
        return "no %s" % cc
    here = room(name)
    sources = [source, INTERRUPTS] if "every" in how else [source]
    exe = build(here, name, sources, *flags, cc=cc)
    return compare(here, [exe, *words], *options, **how)


def random_program(name, seed, kind, features):
    here = room(name)
    case = Case(here, seed, kind, features.split(), 300, 60)
    if not compiler(count_run.ISA, case.cc):
        return "no %s" % case.cc
    case.build()
    return compare(here, [case.exe])


def command(name, *words):
    return compare(room(name), words)


# --- formats

def as_din(insns, data):
    for line in data:
        kind, address = line.split("\t")[2:4]
        yield "%d %s" % ("rw".index(kind), address[2:])


def count_kinds(lines):
    return collections.Counter(l.split("\t")[2] for l in lines)


def formats(name):
    here = room(name)
    exe = build(here, name, [TRACE + "accesses.c"], "-O2")
    trace = here + "/trace"
    quiet([TALLY, "trace", "--addresses", "-o", trace, "--", exe], here)
    data = [l for l in replayed(trace, "--as", "addresses") if l[0] != "#"]
    din = [l for l in replayed(trace, "--format", "din") if l[0] != "2"]
    if din != list(as_din(None, data)):
        return "din differs"
    kinds = count_kinds(data)
    lackey = collections.Counter(
        l[1] for l in replayed(trace, "--format", "lackey") if l[0] == " ")
    if (lackey["L"] + lackey["M"], lackey["S"] + lackey["M"]) != \
            (kinds["r"], kinds["w"]):
        return "lackey has %r, not %r" % (lackey, kinds)
    binary = subprocess.run([TALLY, "replay", "--format", "drmemtrace", trace],
                            stdout=subprocess.PIPE, check=True).stdout
    entries = collections.Counter(t for t, _, _ in
                                  struct.iter_unpack("<HHQ", binary))
    if (entries[0], entries[1]) != (kinds["r"], kinds["w"]):
        return "drmemtrace has %d and %d" % (entries[0], entries[1])
    objects = [json.loads(l) for l in
               replayed(trace, "--as", "addresses", "--json")]
    told = ["%s\t%s\t%s\t%s\t%d" % (o["image"], o["address"], o["access"],
                                   o["data"], o["size"])
            for o in objects if "access" in o]
    if told != data:
        return "JSON differs"
    some = replayed(trace, "--as", "addresses", "--from", "5000", "--count",
                    "400")
    if not "\n".join(data).count("\n".join(l for l in some if l[0] != "#")):
        return "a part differs"
    return None


def blocks(name, cpu, size):
    """What the emulator sees nothing of: the block that is zeroed begins where
    the instruction before it stores, and is as large as the processor says."""
    here = room(name)
    exe = build(here, name, [TRACE + "accesses.c"], "-O2")
    trace, _, _ = emulated(here, [exe], cpu=cpu)
    data = [l.split("\t") for l in replayed(trace, "--as", "addresses")
            if l[0] != "#"]
    found = [(a[3], b[3]) for a, b in zip(data, data[1:])
             if (b[0], b[2], b[4]) == (name, "w", size)]
    if not found or any(a != b for a, b in found):
        return "blocks: %r" % found
    return None


def without(name):
    """A trace has none unless it is asked for."""
    here = room(name)
    run(TALLY, "trace", "-o", here + "/trace", "--", "/bin/true")
    got = subprocess.run([TALLY, "replay", "--as", "addresses",
                          here + "/trace"], stdout=subprocess.PIPE,
                         stderr=subprocess.PIPE)
    if got.returncode != 3 or b"--addresses" not in got.stderr:
        return "status %d, %r" % (got.returncode, got.stderr)
    return None


def judged(name, f, *args, **how):
    """As tap.job() wants it."""
    wrong = f(*args, **how)
    if wrong and wrong.startswith("no "):
        return wrong
    return [(name, [wrong] if wrong else [])]


def ways():
    """(name, function, argument.., {named arguments})"""
    source = TRACE + "accesses.c"

    yield "accesses", program, "accesses", source, "-O2", {}
    yield "plain", program, "plain", source, "-O0", {
        "options": ["--encoding", "bits"]}
    # there is no room for values, again and again
    yield "long", program, "long", source, "-O1", "-DTIMES=120", {}
    yield "clang", program, "clang", source, "-O3", {"cc": "clang"}
    if count_run.ISA == "x86_64":
        yield "wide", program, "wide", source, "-O3", "-march=x86-64-v3", {
            "options": ["--encoding", "every-branch"]}
    else:
        yield "atomics", program, "atomics", source, "-O3", \
            "-march=armv8.1-a+lse", {
                "cpu": ATOMICS, "options": ["--encoding", "every-branch"]}
        yield "blocks", blocks, "blocks", PLAIN, "64", {}
        yield "large-blocks", blocks, "large-blocks", "max", "512", {}
        for i, flag in enumerate(("-O0", "-O2")):
            yield "signals" + flag, program, "signals" + flag, \
                TRACE + "paths.c", flag, {"every": 5 + i}
    # until its variables of threads are there
    yield "static", program, "static", source, "-O2", "-static", {
        "unknown": True}
    yield "no-pie", program, "no-pie", source, "-O2", "-no-pie", {}
    yield "paths", program, "paths", TRACE + "paths.c", "-O2", {}
    yield "crew", program, "crew", TRACE + "crew.c", "-O2", {}
    yield "calls", program, "calls", TRACE + "calls.c", "-O2", {}
    for seed, kind, features in (
            (25, 1, "recursion tail library sort alloca"),
            (36, 5, "pointer tail library sort jump variadic struct"),
            (92, 6, "pointer tail sort throw")):
        yield "seed-%d" % seed, random_program, "seed-%d" % seed, seed, \
            kind, features, {}
    yield "formats", formats, "formats", {}
    if count_run.ISA != HOST:
        return
    yield "list", command, "list", "ls", "/", {}
    yield "shell", command, "shell", "sh", "-c", "echo $((3 * 4)); read x", {}
    yield "without", without, "without", {}


def jobs():
    for name, f, *args, how in ways():
        yield name, functools.partial(judged, name, f, *args, **how)


if HOST != "x86_64" or EMULATED:
    tap.skip("accesses", "no x86-64 processor")
    tap.done()
else:
    test_all(tap, jobs, PLUGIN)
