"""
callgrind_arcs: calls and their costs as valgrind's callgrind saw them, of the
machine's own programs.

What a procedure does in recursion callgrind writes of f'2; here it is f's.
On AArch64 callgrind takes unconditional jumps within a procedure for calls, and
then does not know when that procedure ends: what it says of that one, and of
all that call it, is nothing to compare with (trusted()).
"""
import collections
import os
import re

from rewrite_run import *


# functions for processors that valgrind has, too
PLAIN_CPU = {"GLIBC_TUNABLES": "glibc.cpu.hwcaps=" + ",".join(
    "-" + f for f in "AVX512F AVX512VL AVX512BW AVX512DQ AVX512CD ERMS FSRM "
    "RTM".split())} if HOST == "x86_64" else {}


class Arc:
    def __init__(self):
        self.calls = self.cost = 0


def parsed(text, name):
    """
    {(address of the call, callee): Arc}, callees in the image of that name, and
    the addresses that are called there: {callee: {address}}. In which image
    the call is callgrind may be wrong about.
    """
    out = collections.defaultdict(Arc)
    targets = collections.defaultdict(set)
    image = callee_image = callee = None
    left = None
    for line in text.splitlines():
        if left:
            w = line.split()
            arc = out[int(w[0], 16), callee]
            arc.calls += left
            arc.cost += int(w[-1])
            left = None
        elif line.startswith("ob="):
            image = callee_image = os.path.basename(line[3:])
        elif line.startswith("fn="):
            callee_image = image
        elif line.startswith("cob="):
            callee_image = os.path.basename(line[4:])
        elif line.startswith("cfn="):
            callee = re.sub(r"'\d+$", "", line[4:])
        elif line.startswith("calls="):
            n, to = line[6:].split()[:2]
            left = int(n)
            if callee_image == name:
                targets[callee].add(int(to, 16))
            else:
                callee = None
            callee_image = image
    return out, targets


def trusted(targets, entries, rows):
    """
    Callees of which callgrind knows what they cost: nothing that they may call
    has jumps that it took for calls. rows: [(caller, callee)]
    """
    bad = {name for name, to in targets.items() if not to <= entries}
    while True:
        more = {a for a, b in rows if b in bad} - bad
        if not more:
            return {b for _, b in rows} - bad
        bad |= more


def arcs(here, exe, env):
    """What parsed() says of a run of the program."""
    out = here + "/callgrind.out"
    p = subprocess.run(
        ["valgrind", "--tool=callgrind", "--skip-plt=no", "--dump-instr=yes",
         "--compress-strings=no", "--compress-pos=no",
         "--callgrind-out-file=" + out, exe],
        env={**env, **PLAIN_CPU, "LD_BIND_NOW": "1"},
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, **ALONE)
    if not os.path.exists(out):
        raise Failed("callgrind: %s" % p.stderr[-300:])
    with open(out) as f:
        return parsed(f.read(), os.path.basename(exe))
