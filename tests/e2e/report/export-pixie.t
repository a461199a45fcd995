#!/usr/bin/env python3
"""
export-pixie: every basic block ran as often as `tally export --format pixie`
says, and is as long. binutils say where instructions are; qemu, or single steps
of the machine itself, how often each ran in the original: as often as its line
says, be it never. Every instruction that ran is in one line, or in code that
stays in place. Where a thread ends in the middle of a block its parts tell.
"""
import bisect
import json
import re
import sys

sys.path.insert(0, "tests/lib")
import count_run
from count_run import *

tap = Tap()
# name, sources, flags, compiler, whether some counts are not known: of code in
# which no counter may be
CASES = [
    ("flow", ["flow.c"], ["-O2"], "gcc", False),
    ("leave", ["../count/leave.cc"], ["-O2"], "g++", False),
    ("edges", ["edges.cc", "edges-%s.S"], ["-O2", *TABLES], "g++", True),
]


def instructions(exe):
    """addresses of all in the program"""
    text = run(tool(count_run.ISA, "objdump"), "-d", "-w", exe)
    return sorted({int(a, 16) for a in
                   re.findall(r"^ +([0-9a-f]+):\t", text, re.M)})


def lines(profile, image):
    """(address, instructions, count or None) of an image, in order"""
    text = run(TALLY, "export", "--format", "pixie", profile)
    out = []
    for line in text.splitlines():
        name, addr, n, count = line.split("\t")
        if name == image:
            out.append((int(addr, 16), int(n),
                        None if count == "?" else int(count)))
    return out


def spread(parts, at):
    """{address: count or None} of instructions, and complaints"""
    out, bad, end = {}, [], -1
    for addr, n, count in parts:
        i = bisect.bisect_left(at, addr)
        if at[i:i + 1] != [addr] or addr <= end:
            bad.append("%#x: no instruction, or one that was told" % addr)
            continue
        out.update((a, count) for a in at[i:i + n])
        end = at[i + n - 1]
    return out, bad


def in_place(exe, here):
    """ranges of code of which nothing is told"""
    said = json.loads(run(TALLY, "instrument", "--json", exe, "-o",
                          here + "/copy"))
    return [(int(r["start"], 16), int(r["end"], 16))
            for r in said["in_place"]]


def judge(got, want, spared):
    bad = ["%#x: %d, want %d" % (a, n, want[a]) for a, n in got.items()
           if n is not None and n != want[a]]
    return bad + ["%#x: ran, has no line" % a for a, n in want.items() if n
                  and a not in got
                  and not any(s <= a < e for s, e in spared)]


def attempt(name, sources, flags, cc, unknown):
    here = room(name)
    exe = build(here, name, sources, *flags, cc=cc)
    original(here, exe, [], "qemu-counts")
    loops = retried(exe)
    want = steady(ran(here, exe), loops)
    profile = tally_count(here, exe, [], name)[3]
    got, bad = spread(lines(profile, name), instructions(exe))
    bad += judge(steady(got, loops), want, in_place(exe, here))
    told = [n for n in got.values() if n is not None]
    if not any(told) or all(told):
        bad.append("nothing ran, or everything")
    if (None in got.values()) != unknown:
        bad.append("what is not known?")
    return [("%d blocks" % len(lines(profile, name)), bad)]


def ends(name):
    """A block that is left in its middle has parts, as instructions say."""
    here = room(name)
    exe = build(here, name, ["../count/ends.c"], "-O2")
    profile = tally_count(here, exe, ["store"], name)[3]
    parts = lines(profile, name)
    got, bad = spread(parts, instructions(exe))
    want = told(profile)[name]
    bad += judge(got, collections.Counter(want), [])
    blocks = {int(b["start"], 16) for b in json.loads(
        run(TALLY, "report", "--by", "block", "--all", "--json", profile))
        if b["image"] == name}
    inner = [addr for addr, _, _ in parts if addr not in blocks]
    if len(inner) != 1:
        bad.append("parts of blocks: %s" % inner)
    return [("parts of a block", bad)]


def jobs():
    for case in CASES:
        if all(map(os.path.exists, paths(case[1]))):
            yield case[0], attempt, *case
    yield "ends", ends, "ends"


test_all(tap, jobs, "qemu-counts")
