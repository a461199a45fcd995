#!/usr/bin/env python3
"""
call_compare: what calls cost as `tally events --per-call-site` says, and as
single steps do (call_tree.py), of random programs (call_programs.py).

    call_compare.py [--features NAME,..] [--without NAME,..] [--deep N]
                    [--fuel N] [--kind N] [--keep FOLDER] [--shrink]
                    MACHINE SEED...

Each seed is a program and a way to compile it (KINDS; --kind: this one). It is
measured twice, with its own code alone and with all libraries, and every row
has to be the same: calls, kind and both costs, of each event. tally may call a
cost unknown where stacks were switched or a handler was left by a jump while a
call of the row's callee was open, and nowhere else. Costs are not compared of
calls in which an unwinder is measured, as it reads other tables with tally.
Rows are compared of which the caller or the callee is a procedure of the
sources: what the C library does at the start depends on the environment, and
what it does in threads on which is first; so with libraries those are left out.

--shrink: of a program that fails, features are left out one by one as long as
it does. A tally that does not know --per-call-site is not asked; then only
what the oracle finds strange in itself is told.
"""
import argparse
import collections
import json
import os
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import call_programs
import count_run
from call_tree import UNWINDING, Tree
from count_run import *

PLUGIN = "qemu-steps"
HARDENED = {"x86_64": "-fcf-protection=full",
            "aarch64": "-mbranch-protection=standard"}
# (name, compiler, flags): + static, stripped
KINDS = [
    ("gcc-O2", "gcc", ["-O2"]),
    ("gcc-O0", "gcc", ["-O0"]),
    ("clang-O2", "clang", ["-O2"]),
    ("gcc-O2-no-plt", "gcc", ["-O2", "-fno-plt"]),
    ("gcc-O1-static", "gcc", ["-O1", "-static"]),
    ("gcc-O3-hardened", "gcc", ["-O3", "%hardened"]),
    ("gcc-Os-stripped", "gcc", ["-Os"]),
    ("clang-O1-no-pie", "clang", ["-O1", "-no-pie", "-fno-pie"]),
    ("gcc-O2-frames", "gcc", ["-O2", "-fno-omit-frame-pointer", "-no-pie"]),
    ("clang-O3-static", "clang", ["-O3", "-static"]),
    ("gcc-O2-static-stripped", "gcc", ["-O2", "-static"]),
    ("clang-Os-stripped", "clang", ["-Os"]),
]
EVENTS = "insns", "calls", "syscalls"
MORE_EVENTS = "loads", "branches"
# what is the same with tally and without: stubs are bound, and no run trims its
# heap, which paths of other lengths do
STEADY = {"LD_BIND_NOW": "1", "MALLOC_TRIM_THRESHOLD_": "10000000"}
# how tally calls kinds
KIND = {"indirect-call": "indirect", "jump": "tail", "indirect-jump": "tail"}
# what libraries do then depends on which thread is first
WAITS = {"thread"}
# what is counted: what is not calls what is, and is called by it
OWN, ALL, ALONE = "own code", "libraries too", "the program alone"


def feature():
    """Why `tally events` cannot do this, or ''."""
    p = subprocess.run([TALLY, "events", "--help"], text=True,
                       stdout=subprocess.PIPE)
    return "" if "--per-call-site" in p.stdout else \
        "tally events has no --per-call-site"


class Case:
    """A program of one seed, compiled in one way."""

    def __init__(self, here, seed, kind, features=None, deep=2000, fuel=150):
        self.here, self.seed = here, seed
        self.kind, self.cc, self.flags = KINDS[kind % len(KINDS)]
        self.static = "-static" in self.flags
        if features is None:
            features = call_programs.chosen(seed)
        if self.static:
            features = [f for f in features if f not in WAITS]
        p = call_programs.write(seed, here, features, deep, fuel)
        self.has, self.cpp = p.has, p.cpp()
        # jumps out of what is counted, and back, may be taken for others
        # (doc/limits.md)
        self.alone = "library" in self.has and "tail" not in self.has
        self.exe, self.lib = here + "/prog", None
        # there is other code for one event, for two, ..
        number = 1 + seed // 3 % 5
        self.events = EVENTS[:number]
        self.asked = (EVENTS + MORE_EVENTS)[:number]
        self.twins = {}

    def title(self):
        return "seed %d, %s: %s" % (self.seed, self.kind, " ".join(
            f for f in call_programs.FEATURES if f in self.has))

    def compile(self, *words, cpp=False):
        cc = self.cc
        if cpp:
            cc = {"gcc": "g++", "clang": "clang++"}[cc]
        run(*compiler(count_run.ISA, cc), "-w", *words)

    def build(self):
        """The program; names are the procedures of the sources."""
        here = self.here
        flags = [HARDENED[count_run.ISA] if f == "%hardened" else f
                 for f in self.flags]
        shared = [f for f in flags if "pie" not in f] + ["-fPIC"]
        lib, main = here + "/lib.o", here + "/main.o"
        self.compile(*(flags if self.static else shared), "-c", "-o", lib,
                     here + "/lib.c")
        self.compile(*flags, "-c", "-o", main, here + (
            "/main.cc" if self.cpp else "/main.c"), cpp=self.cpp)
        rest = [lib]
        if not self.static:
            self.lib = here + "/libcalls.so"
            self.compile(*shared, "-shared", "-o", self.lib, lib)
            rest = ["-rdynamic", self.lib, "-Wl,-rpath," + here]
        self.compile(*flags, "-Wl,-z,now", "-o", self.exe, main, *rest,
                     "-lpthread", cpp=self.cpp)
        self.names = {n for f in (lib, main)
                      for _, _, n in Names.read(count_run.ISA, f)}
        if "stripped" in self.kind:
            for f in filter(None, (self.exe, self.lib)):
                shutil.copy(f, f + ".symbols")
                self.twins[f] = f + ".symbols"
                run(tool(count_run.ISA, "strip"), f)

    def auditor(self):
        """A library for LD_AUDIT: with tally the loader has one, too, and
        locks once more for it when the program ends."""
        source, lib = self.here + "/audit.c", self.here + "/audit.so"
        with open(source, "w") as f:
            f.write("unsigned la_version(unsigned v) { return v; }\n")
        run(*compiler(count_run.ISA, "gcc"), "-shared", "-fPIC", "-nostdlib",
            "-o", lib, source)
        return lib

    def steps(self, **more):
        """(status, output) of the run that the oracle sees"""
        out, lib = self.here + "/ran", self.auditor()
        if count_run.ISA == HOST:
            words = ["env", "LD_AUDIT=" + lib, STEPS, "-s", out]
        else:
            words = [count_run.EMULATOR, "-E", "LD_AUDIT=" + lib,
                     "-singlestep", "-plugin",
                     "%s/%s.so,out=%s" % (count_run.where, PLUGIN, out)]
        return quiet([*words, self.exe], self.here, **STEADY, **more)[:2]

    def tree(self, scope, event="insns"):
        names = {ALL: (), OWN: (self.exe, self.lib), ALONE: (self.exe,)}
        return Tree(self.here + "/ran",
                    [os.path.basename(f) for f in names[scope] if f],
                    switches=call_programs.SWITCHERS, twins=self.twins,
                    event=event).read()

    def needs_lib(self):
        return "libcalls.so" in run(tool(count_run.ISA, "readelf"), "-d",
                                    self.exe)

    def measured(self, scope):
        """(status, output, messages, rows) of tally"""
        profile = "%s/%s.tally" % (self.here, scope)
        libs = "none"
        if scope == OWN and self.lib and self.needs_lib():
            libs = os.path.basename(self.lib)
        got = quiet([TALLY, "events", "--per-call-site", "-e",
                     ",".join(self.asked), "-o", profile,
                     *([] if scope == ALL else ["--libs", libs]), "--", self.exe],
                    self.here, **STEADY)
        p = subprocess.run([TALLY, "report", "--by", "call-site", "--json",
                            profile], stdout=subprocess.PIPE,
                           stderr=subprocess.PIPE, text=True)
        return *got, json.loads(p.stdout) if p.returncode == 0 else None, \
            p.stderr


class Comparison:
    """Rows of the oracle and of tally, by the same keys."""

    def __init__(self, tree, case, event="insns", unwinding=None):
        self.tree, self.names, self.event = tree, case.names, event
        self.unwound = {self.site(r) for r in unwinding.table()
                        if r["inclusive_all"]} if unwinding else set()
        self.case = case
        self.own = {os.path.basename(f) for f in (case.exe, case.lib) if f}
        self.images = {i.name: i for i in tree.images.values()}
        self.switched = any(r["why"] == "switch" for r in tree.table())
        self.unknown = self.same = 0

    @staticmethod
    def site(row):
        return tuple(row[x] for x in ("image", "address", "callee_image",
                                      "callee_address", "kind"))

    def key(self, row, callee):
        base = lambda x: x and os.path.basename(x)
        return (base(row["image"]), row["address"] and
                int(row["address"], 16), base(row["callee_image"]), callee,
                "" if row["address"] else row["kind"])

    def uncounted(self, rows):
        """What is called and not counted is one callee of each site."""
        counted = {i.name for i in self.images.values()
                   if self.tree.measured(i)}
        some, out = {}, []
        for r in rows:
            name = r["callee_image"] and os.path.basename(r["callee_image"])
            if name in counted:
                out.append(r)
                continue
            key = r["image"], r["address"], r["kind"]
            if key not in some:
                some[key] = dict(r, callee_image=None, callee=None,
                                 callee_address=None, calls=0, inclusive=None,
                                 inclusive_all=0)
                out.append(some[key])
            some[key]["calls"] += r["calls"]
            some[key]["inclusive_all"] += r["inclusive_all"]
            some[key]["why"] = some[key]["why"] or r["why"]
        return out

    def wanted(self):
        out = {}
        rows = self.uncounted(self.tree.table())
        callee = lambda r: (r["callee_image"], r["callee_address"])
        unsure = {callee(r): r["why"] for r in rows if r["why"]}
        for r in rows:
            key = self.key(r, r["callee_address"] and
                           int(r["callee_address"], 16))
            r["why"] = unsure.get(callee(r))
            if self.concerns(key):
                out[key] = r
        return out

    def concerns(self, key):
        return any(name in self.own and self.is_ours(name, at)
                   for name, at in (key[:2], key[2:4]))

    def is_ours(self, name, at):
        """Is there a procedure of the sources? Of others names may be alike"""
        image = self.images.get(name)
        p = image and image.procedure(at) if isinstance(at, int) else None
        return p is not None and not self.names.isdisjoint(p.names)

    def callee(self, row):
        """Where what tally names begins."""
        if row.get("callee_address"):
            return int(row["callee_address"], 16)
        if not row["callee_image"]:
            return None
        image = self.images.get(row["callee_image"] and
                                os.path.basename(row["callee_image"]))
        for p in image.at.values() if image else ():
            if row["callee"] in p.names:
                return p.start
        try:
            return int(row["callee"].rsplit("_", 1)[-1], 16)
        except (ValueError, AttributeError):
            return row["callee"]

    def as_procedure(self, key):
        """The key, with the callee as tally calls it: what shares code, as
        setjmp() and _setjmp(), is one procedure, named after the first."""
        image = self.images.get(key[2])
        if not image or not isinstance(key[3], int):
            return key
        p = subprocess.run([TALLY, "cfg", "--json", image.path, hex(key[3])],
                           stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        if p.returncode:
            return key
        entry = json.loads(p.stdout)["procedures"][0]["entry"]
        return (*key[:3], int(entry, 16), *key[4:])

    def told(self, rows):
        out, twice = {}, []
        for r in rows:
            key = self.key(r, self.callee(r))
            if self.concerns(key) and r["calls"]:
                if key in out:
                    twice.append("%s is there twice" % self.place(key, r))
                out[key] = r
        return out, twice

    def may_lose(self, name):
        """Is more unknown than has to be? A setjmp() that is called by a
        pointer is not known as such; nor does a child know which calls its
        parent has lost."""
        return ("no-plt" in self.case.kind or
                "static-stripped" in self.case.kind) and \
            bool({"jump", "leave"} & self.case.has) or \
            "spawn" in self.case.has or \
            name == "inclusive" and self.switched and \
            bool({"fork", "spawn"} & self.case.has)

    @staticmethod
    def place(key, row):
        who = row["procedure"]
        who = who[0] if isinstance(who, list) and who else who or "-"
        to = row["callee"]
        to = to[0] if isinstance(to, list) and to else to or "-"
        return "%s %s %s -> %s %s (%s)" % (
            key[0] or "-", who, "-" if key[1] is None else "%#x" % key[1],
            key[2] or "-", to, row["kind"])

    def differences(self, rows):
        want, (got, bad) = self.wanted(), self.told(rows)
        want = {key if key in got else self.as_procedure(key): w
                for key, w in want.items()}
        for key in sorted(want.keys() | got.keys(), key=str):
            w, g = want.get(key), got.get(key)
            place = self.place(key, w or g)
            if g and not w and g["kind"] == "outside" and self.switched:
                continue    # where a stack begins
            if not w or not g:
                bad.append("%s: %s" % (place, "tally alone: %s" % g if g else
                                       "%d calls are missing" % w["calls"]))
                continue
            bad += ["%s: %s" % (place, x) for x in self.unequal(w, g)]
        return bad

    def unequal(self, w, g):
        costs = g["events"][self.event] or {}
        if KIND.get(g["kind"], g["kind"]) != w["kind"]:
            yield "it is %s to tally" % g["kind"]
        if g["calls"] != w["calls"]:
            yield "%s calls, want %s" % (g["calls"], w["calls"])
        if self.site(w) in self.unwound:
            return
        for name in "inclusive", "inclusive_all":
            n = costs.get(name)
            if n is None and (w["why"] or self.may_lose(name)):
                self.unknown += 1
            elif n != w[name]:
                yield "%s: %s %s, want %s" % (self.event, name, n, w[name])
            else:
                self.same += 1


def judge(case, scope, sums):
    """Complaints about one run, or None: the program itself is not steady."""
    tree = case.tree(scope)
    # assembler of the C library jumps into the midst of its neighbours
    strange = ["strange: %s %d" % x for x in tree.strange.items()
               if not x[0][0].startswith("__")]
    unwinding = case.tree(scope, UNWINDING) if "throw" in case.has else None
    c = Comparison(tree, case, unwinding=unwinding)
    sums["rows of the oracle"] += len(c.wanted())
    if feature():
        return strange
    status, out, err, rows, why = case.measured(scope)
    if (status, out) != case.ran:
        return strange + ["%s, want %s" % ((status, out, err[-300:]),
                                           case.ran)]
    if rows is None:
        return strange + ["no report: " + why]
    for event in case.events:
        if event != "insns":
            c = Comparison(case.tree(scope, event), case, event, unwinding)
        strange += c.differences(rows)
        sums["costs that are the same"] += c.same
        sums["costs that are unknown"] += c.unknown
    return strange


def attempt(case, sums):
    """[(what, complaints)] of a case that is there"""
    case.build()
    case.ran = case.steps()
    native = original(case.here, case.exe, ())
    result = [("runs", [] if native == case.ran else
               ["%s stepped, want %s" % (case.ran, native)])]
    for scope, may in (OWN, True), (ALL, not case.has & WAITS), (
            ALONE, case.alone):
        if scope == OWN or may and not case.static:
            result.append((scope, judge(case, scope, sums)))
    return result


def shrunk(case_of, features, sums):
    """The fewest features with which it still fails."""
    for f in list(features):
        less = [x for x in features if x != f]
        try:
            if any(bad for _, bad in attempt(case_of(less), sums)):
                features = less
        except Failed:
            pass
    return features


def one_seed(args, seed, where, sums):
    """[(title, complaints)] of what differs"""
    kind = seed if args.kind is None else args.kind
    features = args.features
    if features is None:
        features = call_programs.chosen(seed)
    features = [f for f in features if f not in args.without]

    def case_of(some):
        here = os.path.join(where, str(seed))
        shutil.rmtree(here, ignore_errors=True)
        return Case(here, seed, kind, some, args.deep, args.fuel)
    case = case_of(features)
    sums["programs " + case.cc] += 1
    try:
        found = attempt(case, sums)
    except Failed as e:
        return [("seed %d" % seed, str(e).splitlines()[:9])]
    bad = [("%s, %s" % (case.title(), what), why[:8]) for what, why in found
           if why]
    if bad and args.shrink:
        bad.append(("seed %d" % seed, ["--features " + ",".join(
            shrunk(case_of, features, collections.Counter()))]))
    elif not bad:
        shutil.rmtree(case.here)
    return bad


def main():
    ap = argparse.ArgumentParser()
    names = lambda s: [n for n in s.split(",") if n]
    ap.add_argument("--features", type=names)
    ap.add_argument("--without", type=names, default=[])
    ap.add_argument("--deep", type=int, default=2000)
    ap.add_argument("--fuel", type=int, default=150)
    ap.add_argument("--kind", type=int)
    ap.add_argument("--keep")
    ap.add_argument("--shrink", action="store_true")
    ap.add_argument("isa", choices=ISAS)
    ap.add_argument("seeds", type=int, nargs="+")
    args = ap.parse_args()
    count_run.use(args.isa)
    if missing():
        print("1..0 # SKIP " + missing())
        return 0
    if feature():
        print("# %s: only the oracle is asked" % feature())
    sums = collections.Counter()
    with tempfile.TemporaryDirectory() as where:
        begin(where, PLUGIN)
        kept = os.path.realpath(args.keep or where)
        return print_sweep(sums, (one_seed(args, s, kept, sums)
                                  for s in args.seeds))


if __name__ == "__main__":
    sys.exit(main())
