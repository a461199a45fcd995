#!/usr/bin/env python3
"""
export: the tools that formats are made for read them, and find in them what
`tally report` says: callgrind_annotate, genhtml, and gcov's own listing.
"""
import json
import os
import re
import sys
import tempfile

sys.path.insert(0, "tests/lib")
from rewrite_run import *

tap = Tap()
TALLY = os.path.abspath(TALLY)
ISA = "aarch64"
ENV = {**os.environ, "QEMU_LD_PREFIX": "/usr/%s-linux-gnu" % ISA,
       "LC_ALL": "C"}


def tally(*words):
    return run(TALLY, *words, cwd=where)


def export(form):
    file = os.path.join(where, form)
    with open(file, "w") as f:
        f.write(tally("export", "--format", form, "profile"))
    return file


def report(by):
    return json.loads(tally("report", "--by", by, "--all", "--json",
                            "profile"))


def number(text):
    return int(text.replace(",", ""))


def callgrind():
    text = run("callgrind_annotate", "--threshold=100", "--auto=no",
               export("callgrind"), env=ENV, cwd=where)
    total = re.search(r"^([\d,]+).*PROGRAM TOTALS", text, re.M)
    rows = report("procedure")
    want = {}
    for r in rows:
        name = (r["procedure"], r["image"])
        want[name] = want.get(name, 0) + r["instructions"]
    same = bool(total) and number(total[1]) == sum(want.values())
    tap.ok(same, "callgrind: all instructions", [text[:600]])
    # parts of a procedure from other files come without the image
    got, bad = {}, []
    for n, name, image in re.findall(
            r"^ *([\d,]+) \( *[\d.]+%\)  [^:]*:(.*?)(?: \[(?:.*/)?([^/]*)\])?$",
            text, re.M):
        got[name] = got.get(name, 0) + number(n)
        if image and (name, image) not in want:
            bad.append("%s of %s" % (name, image))
    for name in got:
        n = sum(want[w] for w in want if w[0] == name)
        if got[name] != n and name != "function": # of the heading
            bad.append("%s: %s, want %s" % (name, got[name], n))
    tap.ok(len(got) > 10 and not bad, "callgrind: %d procedures" % len(got),
           bad[:4] or [text[:900]])
    calls = {}
    for line in open(os.path.join(where, "callgrind")):
        if line.startswith("calls="):
            calls["n"] = calls.get("n", 0) + int(line[6:].split()[0])
    sites = sum(r["count"] or 0 for r in report("call-site")
                if r["callee"] and r["kind"] != "indirect-jump")
    tap.ok(calls.get("n") == sites and sites > 100,
           "callgrind: %d calls" % sites, [str(calls)])


def lines_of(rows, name):
    return {r["line"]: r["count"] for r in rows
            if r["file"].endswith("/" + name) and r["count"] is not None}


def lcov():
    file = export("lcov")
    # a library's debug file may be here, but not its source
    run("lcov", "-q", "--extract", file, "*/coverage.c", "-o", "part",
        cwd=where, env=ENV)
    run("genhtml", "-q", "-o", "html", "part", cwd=where, env=ENV)
    page = os.path.join(where, "html")
    found = [os.path.join(d, f) for d, _, fs in os.walk(page) for f in fs
             if f == "coverage.c.gcov.html"]
    html = open(found[0]).read() if found else ""
    want = lines_of(report("line"), "coverage.c")
    got = {int(line): int(n) for line, n in re.findall(
        r'"lineNum"> +(\d+) </span><span class="line\w+"> +(\d+) :', html)}
    tap.ok(got == want and len(got) > 20, "lcov: genhtml's page",
           ["%s, want %s" % (got, want)])
    text = open(file).read()
    tap.ok("FNDA:1,main\n" in text and "FNDA:0,never\n" in text and
           "FNDA:44,classify\n" in text, "lcov: functions", [text[:400]])


def gcov():
    text = open(export("gcov")).read()
    part = re.search(r"Source:\S*/coverage\.c\n((?:.*\n)*?)(?=.*Source:|\Z)",
                     text)
    got = {}
    for line in part[1].splitlines():
        n, number, source = line.split(":", 2)
        got[int(number)] = (n.strip(), source)
    want = lines_of(report("line"), "coverage.c")
    source = open("tests/progs/coverage.c").read().splitlines()
    same = [got.get(i + 1, ("", ""))[1] for i in range(len(source))] == source
    counts = {n: 0 if c == "#####" else int(c) for n, (c, _) in got.items()
              if c != "-"}
    tap.ok(same and counts == want and len(got) == len(source),
           "gcov: the source, with counts", [str(counts), str(want)])


def folded():
    want = {(r["image"], r["procedure"]): r["instructions"]
            for r in report("procedure") if r["instructions"]}
    got = {}
    for line in open(export("folded")):
        stack, n = line.rsplit(" ", 1)
        got[tuple(stack.split(";"))] = int(n)
    tap.ok(got == want and len(got) > 10, "folded: every procedure")


with tempfile.TemporaryDirectory() as where:
    shutil.copy("tests/progs/coverage.c", where)
    run(*compiler(ISA, "gcc"), "-w", "-g", "-O0", "-o", "program",
        "coverage.c", cwd=where)
    run(TALLY, "count", "-o", "profile", "./program", cwd=where,
        env={**ENV, "XDG_CACHE_HOME": where})
    callgrind()
    lcov()
    gcov()
    folded()
tap.done()
