#!/usr/bin/env python3
"""
cfg/runs: programs made to lead the analysis of indirect jumps astray, built
for both machines, stripped, and run in qemu: every jump, call and return that
happened must be in the graph (tests/tools/judge-flow), and every case must
have happened. Functions, instructions and branches are as nm and objdump say.
"""
import concurrent.futures
import functools
import glob
import os
import shutil
import sys
import tempfile

sys.path.insert(0, "tests/lib")
from cfg_oracle import *

tap = Tap()
JUDGE = os.path.join(os.path.dirname(TALLY), "tools/judge-flow")
PIE, FIXED = ["-fPIE", "-pie"], ["-fno-pie", "-no-pie"]


class Case:
    """A source, how to build it, and what must be said of its jumps."""

    def __init__(self, source, name, calls, say, targets=0, flags=(),
                 cc="gcc", link=PIE, isas=ISAS, apart=True):
        self.source, self.name, self.cc, self.isas = source, name, cc, isas
        self.flags = ["-DCALL=" + name, "-DFROM=%d" % calls[0],
                      "-DTO=%d" % calls[1], link[0], *flags]
        self.link = ["gcc", *link[1:]]
        self.say = say          # what the dispatches of `name` may be
        self.targets = targets  # of known dispatches that must be seen to run
        self.apart = apart      # procedures are told apart
        self.title = " ".join([source, cc, name, *flags, *link[1:]])


def neighbour(which, *more):
    """What lies behind the table would lead into this neighbour."""
    return Case("neighbours.S", "neighbours", (0, 3), (), 4,
                ["-DNEXT=" + which], link=PIE + list(more))


# neither unwind tables nor, stripped, symbols: nobody says which code is whose
BARE = ["-fno-asynchronous-unwind-tables", "-fno-unwind-tables",
        "-fno-stack-protector"]
CASES = [
    # unwind entries that touch: where one ends, a case begins
    Case("touching.S", "touching", (0, 8), ["bounded"], 8),
    # clang 14 places blocks one by one for x86-64 only
    Case("placed.c", "place", (0, 8), ["bounded"], 8,
         ["-O2", "-fbasic-block-sections=all"], "clang", isas=["x86_64"]),
    # more entries than 65,536, and more than tally reads
    Case("many.S", "many", (0, 70000), ["bounded"], 70000,
         ["-DENTRIES=70000", "-DCASES=70000"]),
    Case("many.S", "many", (1099990, 1100000), ["unknown"], 0,
         ["-DENTRIES=1100000", "-DCASES=3"]),
    # a table of bytes without a bound swallows nobody who is called,
    # whose address is known, or who is exported
    neighbour("called"),
    neighbour("pointed"),
    neighbour("named", "-rdynamic"),
] + [
    # without unwind tables: where a call comes back a case begins
    Case("copies.c", "copies", (0, 8), ["bounded"], 7,
         [level, *BARE, *whole], cc)
    for cc, whole in (("gcc", ["-fno-reorder-blocks-and-partition"]),
                      ("clang", [])) for level in ("-O1", "-O2", "-Os")
] + [
    # what lies behind a call that does not return, and jumps that share a
    # table, but are not found at once
    Case(name + ".c", name, (0, 60), (), 0, [level, *BARE, *whole], cc, link,
         apart=False)
    for name, link in (("hidden", FIXED), ("gotos", PIE))
    for cc, whole in (("gcc", ["-fno-toplevel-reorder"]), ("clang", []))
    for level in ("-O1", "-O2")
] + [
    # a label in a variable: never a tail call
    Case("slot.c", "slot", (0, 5), ["approximated", "unknown"], 0, [level],
         cc, link)
    for cc in ("gcc", "clang") for level in ("-O0", "-O2", "-Os")
    for link in (PIE, FIXED)
]


def missing(case, isa):
    """What keeps this from being built and run, or None."""
    for word in (case.cc, "gcc", "as"):
        if not compiler(isa, word):
            return "no %s for %s" % (word, isa)
    return None if has_plugins(isa) else "no qemu-%s with plugins" % isa


@functools.lru_cache(None)
def has_plugins(isa):
    return shutil.which("qemu-" + isa) and \
        "-plugin" in run("qemu-" + isa, "-h")


def observe(p, isa):
    """Runs the program: the files that tell what it did."""
    seen = p.bare + ".seen"
    run("qemu-" + isa, "-L", "/usr/%s-linux-gnu" % isa, "-plugin",
        "%s,out=%s" % (plugin, seen), p.bare)
    return glob.glob(seen + ".*")


def judge(p, g, isa):
    """(violations, targets of known dispatches that ran)."""
    words = [JUDGE, p.bare, *observe(p, isa)]
    done = subprocess.run(words, input=json.dumps(g.json), text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    rows = [line.split("\t") for line in done.stdout.splitlines()]
    all_of_it = [r for r in rows if r[0] == "image" and r[2] == "all"]
    if done.returncode not in (0, 1) or len(all_of_it) != 1:
        raise Failed("judge-flow: " + done.stderr)
    bad = {" ".join(r[3:]) for r in rows if r[0] == "violation"}
    return sorted(bad), int(all_of_it[0][7])


def check_status(p, g, case):
    """The jumps of the function in question are what they may be."""
    here = g.entry.get(p.label[case.name])
    found = {at: d for at, d in g.dispatch.items() if g.owner(at) == here}
    if case.say and not found:
        return ["there is no indirect jump"]
    return ["%#x: %s, %s" % (at, d["status"], d.get("reason"))
            for at, d in found.items()
            if case.say and d["status"] not in case.say]


def check_apart(p, g):
    """Every function is a procedure of its own."""
    bad = []
    for addr, size, names in ours(p):
        mine = {g.block[s][1] for s in g.starts if addr <= s < addr + size}
        if mine != {g.entry.get(addr)}:
            bad.append("%s belongs to %s" % (names[0], " ".join(
                sorted(g.procs[i]["name"] for i in mine))))
    return bad


def attempt(case, isa):
    why = missing(case, isa)
    if why:
        return why
    stem = os.path.join(where, re.sub(r"[^\w.]+", "-", isa + case.title))
    p = Program(isa, case.cc, ["tests/progs/run.c",
                               "tests/progs/" + case.source],
                case.flags, case.link, stem)
    g, full = Graph(p.bare), Graph(p.path)
    bad, ran = judge(p, g, isa)
    if not case.apart:
        return [("shape", check_shape(g)), ("what happened", bad)]
    return [
        ("shape", check_shape(g)),
        ("functions", check_functions(p, g)),
        ("boundaries", check_boundaries(p, g)),
        ("edges", check_edges(p, g)),
        ("what jumps are", check_status(p, g, case)),
        ("what happened", bad),
        ("%d targets ran" % ran,
         [] if ran >= case.targets else ["not %d" % case.targets]),
        ("each by itself", check_apart(p, g)),
        ("each by its name", check_apart(p, full) + check_names(p, full)),
    ]


with tempfile.TemporaryDirectory() as where, \
        concurrent.futures.ThreadPoolExecutor(2) as pool:
    where = os.path.realpath(where)
    plugin = os.path.join(where, "qemu-flow.so")
    run("cc", "-O2", "-D_GNU_SOURCE", "-shared", "-fPIC", "-o", plugin,
        "tests/lib/qemu-flow.c")
    jobs = [(c, i, pool.submit(attempt, c, i)) for c in CASES
            for i in c.isas]
    for case, isa, future in jobs:
        tap.job("%s %s" % (isa, case.title), future)
tap.done()
