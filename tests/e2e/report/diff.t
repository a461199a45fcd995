#!/usr/bin/env python3
"""
diff: `tally diff` says of two runs what `tally report` says of each; between
two builds it finds procedures and blocks again, with their instructions, even
if names or files are gone, and lists what is new or gone.
"""
import os
import re
import sys
import tempfile

sys.path.insert(0, "tests/lib")
from answers import *


def by_procedure(t, profile):
    return {r["procedure"]: (r["instructions"], r["calls"]) for r in
            t.parsed("report", "--all", "--json", profile)}


def ends(row, when):
    """An edge of `tally diff`, as that of a report."""
    return (row.get("from_" + when, ""), row.get("to_" + when, ""),
            row["kind"], row[when])


def edges(t, profile, procedure):
    return sorted((r.get("from") or "", r.get("to") or "", r["kind"],
                   r["count"]) for r in t.parsed("report", "--by", "edge",
                                                 "--all", "--json", profile)
                  if r["procedure"] == procedure)


def ways(t):
    """As many instructions, but another way through them."""
    with open(t.path("ways.c"), "w") as f:
        f.write('''__attribute__((noinline)) static int way(int x)
            { if (x) { __asm__ volatile("nop"); return 3; }
              __asm__ volatile("nop"); return 2; }
            int main(int n, char **v) { return !(way(n > 1) + !v); }''')
    run(*compiler(HOST, "gcc"), "-O2", "-o", "ways", "ways.c", cwd=t.where)
    a, b = t.count("w1", "ways"), t.count("w2", "ways", "x")
    status, out, err = t.tally("diff", "--json", a, b)
    t.same((status, [(r["procedure"], r["before"] == r["after"], r["edges"])
                     for r in json.loads(out)["rows"]]),
           (1, [("way", True, 4)]), "as many instructions by other edges")
    rows = t.parsed("diff", "--json", "--by", "edge", a, b)["rows"]
    t.same(sorted(r["kind"] for r in rows),
           ["fall", "return", "return", "taken"], "which edges")
    arm = {r["kind"]: (r["before"], r["after"]) for r in rows}
    t.ok(arm["fall"] in ((0, 1), (1, 0)) and
         arm["taken"] == arm["fall"][::-1], "one arm instead of the other",
         [str(arm)])


def runs(t):
    """two runs of one build"""
    a, b = t.count("a", "old", "10", "10"), t.count("b", "old", "30", "12")
    status, out, err = t.tally("diff", "--json", "--all", a, b)
    d = json.loads(out)
    before, after = by_procedure(t, a), by_procedure(t, b)
    got = {r["procedure"]: (r["before"], r["calls_before"], r["after"],
                            r["calls_after"]) for r in d["rows"]}
    t.same(got, {p: (*before[p], *after[p]) for p in before},
           "--all: every procedure, before and after")
    t.same((status, d["differ"], {r["code"] for r in d["rows"]}),
           (1, True, {"same"}), "they differ, their code does not")
    rows = t.parsed("diff", "--json", a, b)["rows"]
    t.same({r["procedure"] for r in rows},
           {p for p in before if before[p] != after[p]},
           "only what changed is listed")
    change = [abs(r["after"] - r["before"]) for r in rows]
    t.same(change, sorted(change, reverse=True), "most first")
    t.same(t.tally("diff", a, a), (0, """\
before  712 instructions  a  ./old 10 10
after   712 instructions  a  ./old 10 10
nothing changed
""".replace("712", str(sum(n for n, c in before.values()))), ""),
           "nothing changed, and the status says so")
    t.same([r["procedure"] for r in
            t.parsed("diff", "--json", "--min", "25", a, b)["rows"]],
           ["nested"], "--min")
    t.same(len(t.tally("diff", "--limit", "1", a, b)[1].splitlines()), 5,
           "--limit")
    t.same([r["procedure"] for r in t.parsed(
        "diff", "--json", "--procedure", "choose", a, b)["rows"]],
        ["choose"], "--procedure")
    blocks = t.parsed("diff", "--json", "--by", "block", "--all",
                      "--procedure", "nested", a, b)["rows"]
    want = {(r["start"], r["count"]) for r in
            t.parsed("report", "--by", "block", "--all", "--json", b)
            if r["procedure"] == "nested"}
    t.same({(r["start_after"], r["after"]) for r in blocks}, want,
           "--by block")
    rows = t.parsed("diff", "--json", "--by", "edge", "--all",
                    "--procedure", "nested", a, b)["rows"]
    for w, profile in (("before", a), ("after", b)):
        t.same(sorted(ends(r, w) for r in rows), edges(t, profile, "nested"),
               "--by edge: " + w)
    t.same({r["from_before"] == r["from_after"] for r in rows if
            "from_before" in r}, {True}, "the same edges")
    # counted in another way, but the same
    c = t.count("c", "old", "10", "10", options=("--placement", "redundant"))
    t.same(t.tally("diff", a, c)[0], 0, "placements do not matter")


def code(program):
    """{address: instruction}, without addresses in it"""
    text = run("objdump", "-dw", "--no-show-raw-insn", program)
    return {int(a, 16): re.sub(r"0x[0-9a-f]+|#.*|<.*>|\b[0-9a-f]{3,}\b", "",
                               " ".join(i.split()))
            for a, i in re.findall(r"^ +([0-9a-f]+):\t(.*)", text, re.M)}


def text_of(code, start, end):
    return [code[a] for a in range(int(start, 16), int(end, 16)) if a in code]


def whole(t, profile, procedure):
    return {r["start"]: r["count"] for r in
            t.parsed("report", "--by", "block", "--all", "--json", profile)
            if r["procedure"] == procedure}


def blocks(t, a, b, procedure):
    """Every block of both is there once, and what is the same is the same."""
    rows = t.parsed("diff", "--json", "--by", "block", "--all",
                    "--procedure", procedure, a, b)["rows"]
    got = [{r["start_" + w]: r[w] for r in rows if "start_" + w in r}
           for w in ("before", "after")]
    t.same(got, [whole(t, a, procedure), whole(t, b, procedure)],
           procedure + ": every block, with its counts")
    t.ok(sum("start_before" in r for r in rows) == len(got[0]) and
         sum("start_after" in r for r in rows) == len(got[1]),
         procedure + ": once")
    old, new = code(t.path("old")), code(t.path("new"))
    bad = [str(r) for r in rows if r["code"] == "same" and
           text_of(old, r["start_before"], r["end_before"]) !=
           text_of(new, r["start_after"], r["end_after"])]
    t.none(bad, procedure + ": what is the same has the same instructions")
    return rows


def all_edges(t, a, b, procedure):
    """Every edge of both is there once; what has a counterpart fits it."""
    rows = t.parsed("diff", "--json", "--by", "edge", "--all",
                    "--procedure", procedure, a, b)["rows"]
    for w, code, profile in (("before", "only-after", a),
                             ("after", "only-before", b)):
        t.same(sorted(ends(r, w) for r in rows if r["code"] != code),
               edges(t, profile, procedure),
               "%s: every edge %s" % (procedure, w))
    found = {r.get("start_before"): r.get("start_after") for r in
             t.parsed("diff", "--json", "--by", "block", "--all",
                      "--procedure", procedure, a, b)["rows"]}
    bad = [str(r) for r in rows if r["code"] in ("same", "changed") and
           "from_before" in r and
           found[r["from_before"]] != r["from_after"]]
    t.none(bad, procedure + ": edges go with their blocks")
    return rows


def builds(t):
    a, b = t.count("before", "old", "10", "10"), t.count("after", "new", "10",
                                                        "10")
    rows = {r["procedure"]: r for r in
            t.parsed("diff", "--json", "--all", a, b)["rows"]}
    t.same({p: rows[p]["code"] for p in ("nested", "choose", "never", "gone",
                                         "added", "changed", "main")},
           {"nested": "same", "choose": "same", "never": "same",
            "gone": "only-before", "added": "only-after",
            "changed": "changed", "main": "changed"}, "two builds")
    before, after = by_procedure(t, a), by_procedure(t, b)
    t.same([(rows[p].get("before"), rows[p].get("after")) for p in
            ("gone", "added", "changed")],
           [(before["gone"][0], None), (None, after["added"][0]),
            (before["changed"][0], after["changed"][0])], "their counts")
    listed = {r["procedure"] for r in t.parsed("diff", "--json", a,
                                               b)["rows"]}
    t.same(listed, {"gone", "added", "changed", "main"},
           "what is the same is not listed")
    for p in ("nested", "choose", "changed", "main"):
        found = blocks(t, a, b, p)
        if p in ("nested", "choose"):
            t.same({r["code"] for r in found}, {"same"}, p + ": all found")
        if p == "main":
            t.same([r["code"] for r in found].count("changed"), 3,
                   "main: three calls of another function")
        rows = all_edges(t, a, b, p)
        if p in ("nested", "choose"):
            t.same({r["code"] for r in rows}, {"same"},
                   p + ": all edges found")
        if p == "main":
            # cut, or not, by whether the callee is sure to come back
            kinds = {r["kind"] for r in rows if r["code"] == "changed"}
            t.ok(kinds and kinds <= {"call", "over-call"},
                 "main: calls that changed", [str(kinds)])
    return a, b


def nameless(t):
    """The same without names: by content."""
    entry = {}
    for p in ("old", "new"):
        run("strip", t.path(p), "-o", t.path("s" + p))
        nm = run("nm", t.path(p))
        entry[p] = {n: "0x%x" % int(a, 16) for a, n in
                    re.findall(r"^(\w+) [tT] (\w+)$", nm, re.M)}
        t.count("s%s.tally" % p, "s" + p, "10", "10")
    rows = t.parsed("diff", "--json", "--all", "sold.tally",
                    "snew.tally")["rows"]
    pairs = {r.get("entry_before"): r.get("entry_after") for r in rows}
    t.same([pairs[entry["old"][p]] for p in ("nested", "choose", "never")],
           [entry["new"][p] for p in ("nested", "choose", "never")],
           "without names, by content")
    t.same(pairs[entry["old"]["changed"]], entry["new"]["changed"],
           "what changed, by who calls it")
    t.same([pairs[entry["old"]["gone"]], pairs.get(None)],
           [None, entry["new"]["added"]],
           "and what has no counterpart has none")


def twins(t):
    """One name, one content, several procedures: who calls them tells."""
    for name, factor in (("one", 1), ("two", 10), ("nil", 100)):
        with open(t.path(name + ".c"), "w") as f:
            f.write('''static volatile int sink;
                __attribute__((noinline)) static void twin(int n)
                { for (int i = 0; i < n; i++) sink += i; }
                void %s(void) { twin(%d); }''' % (name, factor))
    with open(t.path("main.c"), "w") as f:
        f.write('''void one(void), two(void), nil(void);
            int main(void) { NIL one(); two(); return 0; }''')
    files = ["one.c", "two.c", "main.c"]
    cc = [*compiler(HOST, "gcc"), "-O1"]
    run(*cc, "-DNIL=", "-o", "twins2", *files, cwd=t.where)
    run(*cc, "-DNIL=nil();", "-o", "twins3", "nil.c", *files, cwd=t.where)
    a, b = t.count("t2", "twins2"), t.count("t3", "twins3")
    each = [[r["instructions"] for r in t.parsed("report", "--json", x)
             if r["procedure"] == "twin"] for x in (a, b)]
    rows = t.parsed("diff", "--all", "--json", a, b)["rows"]
    t.same(sorted((r.get("before", 0), r.get("after")) for r in rows
                  if r["procedure"] == "twin"),
           sorted([(n, n) for n in each[0]] + [(0, max(each[1]))]),
           "twins, by who calls them")


def without_files(t, a, b):
    """The old build was overwritten, as builds are."""
    wanted = t.parsed("diff", "--json", "--all", a, b)["rows"]
    os.remove(t.path("old"))
    rows = t.parsed("diff", "--json", "--all", a, b)["rows"]
    def told(rows):
        return {r["procedure"]: (r["code"] in ("only-before", "only-after"),
                                 r.get("before"), r.get("after"))
                for r in rows}
    t.same(told(rows), told(wanted), "without the old build")
    nested = t.parsed("diff", "--json", "--by", "block", "--all",
                      "--procedure", "nested", a, b)["rows"]
    t.same({r["code"] for r in nested}, {"same"}, "its blocks are found")
    t.ok(all(r["before"] == r["after"] for r in nested), "the right ones",
         [str(nested)])


with tempfile.TemporaryDirectory() as where:
    t = Asker(where)
    t.build("old")
    t.build("new", "-DNEWER")
    runs(t)
    ways(t)
    a, b = builds(t)
    nameless(t)
    twins(t)
    without_files(t, a, b)
    p, q = t.make("p"), t.make("q", "contradiction")
    rows = t.parsed("diff", "--json", p, q)["rows"]
    t.same([(r["procedure"], r["before"], r["after"]) for r in rows],
           [("odd", 2, None)], "what is not known any more")
    status, out, err = t.tally("diff", p, q)
    t.ok(status == 1 and re.search(r"^unknown +2 +unknown +.* odd$", out,
                                   re.M), "is said to be unknown", [out])
    t.refused(2, "missing argument: AFTER", "diff", a)
    t.refused(2, "too many arguments", "diff", a, b, a)
    t.refused(2, "--by takes procedure, block", "diff", "--by", "process", a, b)
    t.refused(2, "--procedure does not go with", "diff", "--by", "line",
              "--procedure", "main", a, b)
    t.refused(2, "--against is for databases", "diff", "--against", "2", a, b)
    t.refused(3, "No such file", "diff", a, "nothing")
    t.refused(3, "nothing in them is called so", "diff", "--image", "no", a, b)
    t.refused(3, "nothing in them is called so", "diff", "--procedure", "no",
              a, b)
    t.mutants(a, lambda x: ("diff", b, x), 0, 1)
    t.done()
