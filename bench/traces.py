#!/usr/bin/env python3
"""traces: what recording a trace costs, how large it is, and how fast it is
replayed.

    bench/traces.py TALLY [NAME...]

Programs of this machine do the same work as they are, and traced in each
encoding, with addresses as well, the trace in memory (/dev/shm) and on disk.
Numbers of the first table are elapsed time by the original's of the same round:
all ways in turns, medians of three rounds (or ROUNDS); the writer of the trace
runs beside the program, and is waited for. The second has bits per conditional
branch and per indirect one as they are written (records and targets are of the
latter), bits on edges that leave neither and codes written, by conditional
branches; bits of the file per conditional branch without what it says of
images, and millions of instructions that a second of replay tells. The third is of
addresses: the share that is computed, bytes of values per instruction, bytes
of the file per instruction, and the speed of a replay with them. `packed` of
both is the file after `tally trace pack`, and MB/s how much of bits, or values,
that packs in a second of CPU time, images included.
"""
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
import time

from machine import Machine
from work import GOOD, LARGE, Inputs, works

TALLY, NAMES = os.path.abspath(sys.argv[1]), sys.argv[2:]
BITS = os.path.join(os.path.dirname(TALLY), "bench/trace_bits")
MACHINE = Machine(os.uname().machine, "/")
ROUNDS = int(os.environ.get("ROUNDS", 3))
SEVEN = ["bzip2", "gzip", "xz", "lua5.4", "sqlite3", "gawk", "minisat"]
ENCODINGS = "witness", "bits", "every-branch"


def ways(memory, disk):
    """{name: (command, trace)}"""
    found = {None: ([], None)}
    for name, where, flags in (
            *((e, memory, ["--encoding", e]) for e in ENCODINGS),
            ("disk", disk, []),
            ("addresses", memory, ["--addresses"]),
            ("+disk", disk, ["--addresses"])):
        trace = "%s/%s.trace" % (where, name)
        found[name] = ([TALLY, "trace", *flags, "-o", trace, "--"], trace)
    return found


def elapsed(command, work, env):
    began = time.monotonic()
    p = subprocess.run([*command, work.program, *work.args],
                       stdin=open(work.given or "/dev/null"),
                       stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                       env={**os.environ, **env})
    return (p.returncode, p.stdout), time.monotonic() - began


def measure(work, all_ways, env):
    """{way: ratio}"""
    times = {way: [] for way in all_ways}
    for way, (command, _) in all_ways.items():
        said, _ = elapsed(command, work, env)
        if way is None:
            want = said
            if said[0] not in GOOD:
                sys.exit(work.name + ": the original fails")
        elif said != want:
            sys.exit("%s, %s: does not do what the original does" %
                     (work.name, way))
    for _ in range(ROUNDS):
        for way in all_ways:
            times[way].append(elapsed(all_ways[way][0], work, env)[1])
    base = times.pop(None)
    return {way: statistics.median(x / y for x, y in zip(t, base))
            for way, t in times.items()}


def held(trace):
    """What trace_bits says of it, and its bytes."""
    said = subprocess.run([BITS, trace], check=True, text=True,
                          stdout=subprocess.PIPE).stdout
    found = {name: float(n) for name, n in
             (line.split() for line in said.splitlines())}
    return {**found, **pack(trace)}


def pack(trace):
    """The bytes of its threads, what they become, and the CPU time of that."""
    p = subprocess.Popen([TALLY, "trace", "pack", "--json", "-o",
                          trace + ".packed", trace], text=True,
                         stdout=subprocess.PIPE)
    said = json.loads(p.stdout.read())
    used = os.wait4(p.pid, 0)[2]
    return {"bytes": said["threads_before"], "packed": said["threads_after"],
            "pack_seconds": max(used.ru_utime + used.ru_stime, 1e-9)}


def line(name, numbers, form):
    print("%-12s" % name, *(form % n for n in numbers))
    sys.stdout.flush()


def mean(v):
    return math.exp(statistics.mean(math.log(max(x, 1e-9)) for x in v))


def table(head, rows, form, worst=max):
    print("%-12s" % "", *("%12s" % h for h in head))
    for name, numbers in rows:
        line(name, numbers, form)
    columns = list(zip(*(n for _, n in rows)))
    line("geo. mean", map(mean, columns), form)
    line("worst", map(worst, columns), form)
    print()


def control(h):
    branches = max(h["conditional"], 1)
    targets = (64 * h["words"] + h["bits"] - h["conditional_bits"] -
               h["other_bits"])
    return (h["conditional_bits"] / branches, h["other_bits"] / branches,
            targets / max(h["indirect"], 1), h["writes"] / branches,
            8 * h["bytes"] / branches, 8 * h["packed"] / branches,
            h["bits"] / 8e6 / h["pack_seconds"],
            h["insns"] / h["seconds"] / 1e6)


def data(h):
    return (100 * (1 - h["taken"] / max(h["accesses"], 1)),
            h["values"] / h["insns"], h["bytes"] / h["insns"],
            h["packed"] / h["insns"], h["values"] / 1e6 / h["pack_seconds"],
            h["insns"] / h["seconds_with"] / 1e6)


def main():
    with tempfile.TemporaryDirectory() as tmp, \
            tempfile.TemporaryDirectory(dir="/dev/shm") as memory:
        env = {"TALLY_CACHE": tmp + "/cache"}
        all_ways = ways(memory, tmp)
        times, bits, addresses = [], {e: [] for e in ENCODINGS}, []
        for work in works(MACHINE, LARGE, Inputs(tmp), NAMES or SEVEN):
            ratios = measure(work, all_ways, env)
            times.append((work.name, list(ratios.values())))
            line(work.name, ratios.values(), "%12.2f")
            for e in ENCODINGS:
                bits[e].append((work.name, control(held(all_ways[e][1]))))
            addresses.append((work.name,
                              data(held(all_ways["addresses"][1]))))
        print()
        table([w for w in all_ways if w], times, "%12.2f")
        for e in ENCODINGS:
            print(e)
            table(["bits/cond", "others'/cond", "bits/ind", "writes/cond",
                   "at rest/cond", "packed/cond", "MB/s", "M insns/s"],
                  bits[e], "%12.3f")
        print("addresses")
        table(["computed %", "raw B/insn", "rest B/insn", "packed/insn",
               "MB/s", "M insns/s"],
              addresses, "%12.3f")


main()
