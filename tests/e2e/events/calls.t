#!/usr/bin/env python3
"""
events/calls: what calls cost, callees included, as `tally events
--per-call-site` says.

An oracle builds the tree of calls from single steps (tests/lib/call_tree.py).
It is judged itself: by programs of which the costs are known, and by callgrind
where that is right. Random programs then have calls that begin and end in all
ways (tests/lib/call_programs.py); every row of tally is the oracle's
(tests/lib/call_compare.py).
"""
import sys

sys.path.insert(0, "tests/lib")
import call_compare
import callgrind_arcs
from call_compare import *
from rest import with_rest

tap = Tap()
ARCS = "../events/arcs.c"
# one to five events among them
SEEDS = {"aarch64": with_rest((2, 10, 13, 19), (28,)),
         "x86_64": with_rest((7, 3, 10, 15, 27), (20, 22))}
# no stubs, which are nobody's by their names
FLAGS = [("O2", ["-O2", "-fno-plt"]), ("O0", ["-O0", "-fno-plt"])]
START = "call_weak_fn register_tm_clones deregister_tm_clones".split()
PLAIN = ["sort", "pointer", "tail", "variadic", "struct", "alloca"]


class Arcs:
    """The program whose costs are known, and its rows."""

    def __init__(self, here, flags):
        self.here = here
        self.exe = build(here, "arcs", [ARCS], *flags, "-Wl,-z,now")
        case = Case.__new__(Case)
        case.here, case.exe, case.lib, case.twins = here, self.exe, None, {}
        self.case, self.ran = case, case.steps()
        self.tree = case.tree(OWN)
        self.rows = self.tree.table()

    def own(self, word):
        """How many instructions procedures have done that begin so."""
        n = 0
        for t in self.tree.traces.values():
            space, a = self.tree.spaces[t[0]], t[1]
            for i in range(0, len(a), 2):
                if not a[i]:
                    break
                p = space.place(a[i]) if a[i] >= 16 else None
                if p and p.measured and p.procedure and \
                        p.procedure.name().startswith(word):
                    n += 1
        return n

    def row(self, callee, who=None):
        found = [r for r in self.rows if callee in r["callee"] and
                 (who is None or who in r["procedure"])]
        if len(found) != 1:
            raise Failed("%s: %s" % (callee, found))
        return found[0]


def fib_costs(arcs):
    """By one(): a, by two(): 2 a + b more; then all others follow."""
    one, two, every = (arcs.row("fib", "fib_" + n)["inclusive"]
                       for n in ("one", "two", "all"))
    own = [one, one]
    for n in range(2, 13):
        own.append(own[-1] + own[-2] + two - 2 * one)
    deep = lambda n: 0 if n < 2 else own[n - 1] + own[n - 2] + deep(n - 1) + \
        deep(n - 2)
    calls = lambda n: 0 if n < 2 else 2 + calls(n - 1) + calls(n - 2)
    inner = [r for r in arcs.rows if "fib" in r["callee"] and
             "fib" in r["procedure"]]
    got = (every, sum(r["inclusive_all"] for r in inner),
           sum(r["inclusive"] for r in inner), sum(r["calls"] for r in inner))
    want = own[12], deep(12) + deep(2), 0, calls(12) + calls(2)
    # tail recursion has fewer calls by name: then there is nothing to tell
    return [] if got == want or len(inner) != 2 else [
        "%s, want %s" % (got, want)]


def known(name, flags):
    """Steps of a busy machine were seen to miss a part of a thread, once."""
    found = known_once(name, flags)
    return known_once(name + "-again", flags) if found[0][1] else found


def known_once(name, flags):
    arcs = Arcs(room("arcs-" + name), flags)
    bad = ["strange: %s" % (x,) for x in arcs.tree.strange.items()]
    if arcs.ran[0] != 7:
        bad.append(str(arcs.ran))
    # the child of fork_main() comes to the end, too
    calls = {"handler": 5, "thread": 2, "end": 2}
    for word in ("fib pair tail jump sort handler raise thread fork "
                 "end").split():
        row, want = arcs.row(word + "_main"), arcs.own(word)
        if row["why"] or (row["calls"], row["inclusive"],
                          row["inclusive_all"]) != (calls.get(word, 1), want,
                                                    want):
            bad.append("%s: %s, want %d" % (word, row, want))
    order = arcs.row("sort_order")
    if order["kind"] != "outside" or order["calls"] < 5 or \
            order["inclusive"] != arcs.own("sort_order"):
        bad.append(str(order))
    return [("costs that are known", bad), ("fib", fib_costs(arcs))]


def by_callgrind(seed, kind, features):
    """Of calls within the program callgrind says the same."""
    if not shutil.which("valgrind"):
        return "no valgrind"
    here = room("callgrind-%d" % seed)
    case = Case(here, seed, kind, features)
    case.build()
    case.steps(**callgrind_arcs.PLAIN_CPU)
    tree = case.tree(ALL)
    rows = [r for r in tree.table() if r["image"] == case.exe and
            r["callee_image"] == case.exe and r["procedure"] and
            r["callee"] and r["callee"][0] not in START]
    found, targets = callgrind_arcs.arcs(here, case.exe, environment(here))
    trusted = callgrind_arcs.trusted(
        targets, set(tree.images[case.exe].at),
        [(r["procedure"][0], r["callee"][0]) for r in rows])
    bad, n = [], 0
    for r in rows:
        # of a jump it does not always see that it leads elsewhere
        if r["callee"][0] not in trusted or r["kind"] == "tail":
            continue
        n += 1
        arc = found[int(r["address"], 16), r["callee"][0]]
        if (arc.calls, arc.cost) != (r["calls"], r["inclusive_all"]):
            bad.append("%s: callgrind %d %d" % (r, arc.calls, arc.cost))
    return [("%d arcs of %d" % (n, len(rows)),
             bad if n > 3 else ["none"])]


def random_program(seed):
    sums = collections.Counter()
    return attempt(Case(room("seed-%d" % seed), seed, seed), sums)


def as_told(r):
    """A row of the oracle as tally would say it."""
    name = lambda x: os.path.basename(x) if x else x
    first = lambda x: x[0] if x else None
    return {"image": name(r["image"]), "procedure": first(r["procedure"]),
            "address": r["address"], "callee_image": name(r["callee_image"]),
            "callee": first(r["callee"]), "kind": r["kind"],
            "calls": r["calls"], "events": {"insns": {
                k: r[k] for k in ("inclusive", "inclusive_all")}}}


def mistakes(rows, sure, unsure):
    """[(what, rows with one mistake, is it one?)]; sure, unsure: numbers"""
    def changed(i, **more):
        return rows[:i] + [{**rows[i], **more}] + rows[i + 1:]
    unknown = {"insns": {"inclusive": None, "inclusive_all": None}}
    costs = rows[sure]["events"]["insns"]
    yield "nothing", rows, False
    yield "a row is missing", rows[:sure] + rows[sure + 1:], True
    yield "a row is there twice", rows + rows[sure:sure + 1], True
    yield "calls", changed(sure, calls=rows[sure]["calls"] + 1), True
    yield "kind", changed(sure, kind="outside"), True
    yield "callee", changed(sure, callee="main"), True
    for k in costs:
        yield k, changed(sure, events={"insns": {**costs, k: costs[k] + 1}}), \
            True
    yield "unknown", changed(sure, events=unknown), True
    yield "unknown where it may be", changed(unsure, events=unknown), False


def notices():
    """What compares tells every mistake."""
    case = Case(room("notices"), 1, 0, ["recursion", "jump", "switch"])
    case.build()
    case.steps()
    tree = case.tree(OWN)
    want = list(Comparison(tree, case).wanted().values())
    rows = [as_told(r) for r in want]
    sure = next(i for i, r in enumerate(want) if r["address"] and
                not r["why"])
    unsure = next(i for i, r in enumerate(want) if r["why"])
    bad = []
    for what, some, wrong in mistakes(rows, sure, unsure):
        told = Comparison(tree, case).differences(some)
        if bool(told) != wrong:
            bad.append("%s: %s" % (what, told[:2]))
    return [("notices mistakes", bad)]


# --- objects that come and go

def plugin_rows(here, how, libs, *names):
    """{(procedure, callee's image, callee): [calls, cost, ...]} of libraries"""
    status, out, err = quiet(
        [TALLY, "events", "--per-call-site", "-e", "insns", "--libs", libs,
         "--output", here + "/said", "-o", here + "/" + how, "--",
         here + "/plugins", how, "4", *names], here)
    if status:
        return out + err, {}
    rows = collections.defaultdict(collections.Counter)
    for r in json.loads(run(TALLY, "report", "--by", "call-site", "--json",
                            here + "/" + how)):
        at = r["procedure"], r["callee_image"], r["callee"]
        if r["callee"] in ("work", "leave") or at[::2] == ("work", "depth"):
            rows[at].update(calls=r["calls"])
        # how many instructions dlclose() needs is another matter
        if r["callee"] in ("work", "depth") and at in rows:
            rows[at].update(r["events"]["insns"])
    return out, rows


def plugins(what, chosen):
    """
    Libraries one behind the other at the same place are not taken for each
    other: calls cost what they do if all of them stay.
    """
    here = room("plugins-" + what)
    names = ["./lib%d.so" % i for i in (1, 2, 3)]
    build(here, "plugins", ["../events/plugins.c"], "-O1")
    for i, name in enumerate(names):
        build(here, os.path.basename(name), ["../events/plugin.c"], "-O2",
              "-shared", "-fPIC", "-DTIMES=%d" % (i + 1))
    kept, closed = (plugin_rows(here, how, chosen, *names)
                    for how in ("keep", "close"))
    bad = ["%s: %s, not %s" % (k, dict(closed[1][k]), dict(kept[1][k]))
           for k in {*kept[1], *closed[1]} if kept[1][k] != closed[1][k]]
    bad += [] if kept[0] == closed[0] and len(kept[1]) == 9 else [
        str((kept, closed[0]))]
    return [("objects that come and go", bad)]


def sharers():
    """
    Where there is no room for counters of threads (a stack as large as all
    that is above the libraries), that is said, and calls that are open are
    not taken to have cost what others did.
    """
    here = room("sharers")
    exe = build(here, "sharers", ["../events/sharers.c"], "-O1")
    got = quiet(["sh", "-c", 'ulimit -s 131000 && exec "$@"', "-", TALLY,
                 "events", "--per-call-site", "--no-aslr", "-e", "insns",
                 "--output", here + "/said", "-o", here + "/p", "--", exe],
                here)
    p = subprocess.run([TALLY, "report", "--by", "call-site", "--json",
                        here + "/p"], stdout=subprocess.PIPE,
                       stderr=subprocess.PIPE, text=True)
    bad = [] if got[:2] == (0, "414000\n") else [str(got)]
    if "share counters" not in p.stderr:
        return bad and [("threads that share", bad)] or "there was room"
    bad += ["%s: %s" % (r["callee"], r["events"])
            for r in json.loads(p.stdout)
            if r["callee"] in ("pthread_create", "pthread_join", "main") and
            (r["events"]["insns"]["inclusive"] or 0) > 100000]
    return [("threads that share", bad)]


def tally_knows():
    return feature() or [("known", [])]


def jobs():
    for name, flags in FLAGS:
        yield "arcs " + name, known, name, flags
    if count_run.ISA == HOST:
        yield "callgrind", by_callgrind, 3, 0, PLAIN
        yield "sharers", sharers
    yield "comparison", notices
    for seed in SEEDS[count_run.ISA]:
        yield "seed %d" % seed, random_program, seed
    yield "plugins", plugins, "all", "all"
    yield "plugins alone", plugins, "alone", "lib1.so,lib2.so,lib3.so"
    yield "--per-call-site", tally_knows


test_all(tap, jobs, PLUGIN)
