#!/usr/bin/env python3
"""
count/go: programs of Go are counted exactly, static and dynamic, and behave as
before: their collector and stack growth look return addresses up, their
scheduler interrupts threads anywhere and lets them go on, faults become panics
that are recovered from, and threads have no C library.
"""
import json
import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, "tests/lib")
from rewrite_run import *

tap = Tap()
SOURCE = os.path.abspath("tests/progs/count/goroutines.go")
GOARCH = {"x86_64": "amd64", "aarch64": "arm64"}
# Go's own library, compiled: kept for the next time
GOCACHE = os.path.abspath(os.path.join(os.path.dirname(TALLY), "go"))
# word: number, how often mark() is called; None: not at all
WORDS = {"tree": (14, 2**15 - 1), "deep": (20000, 20001), "fault": (50, 50),
         "many": (10000, 10000), "tight": (30000000, 20), "exit": (1000, 1000),
         "spawn": (40, 40), "curve": (20, 20),
         "where": (0, None), "crash": (0, None)}
# those in which no thread has to be interrupted: qemu is not to be trusted
FOREIGN = ["tree", "deep", "fault", "many", "where"]
BUILDS = {
    "static": ["-buildmode=exe"],
    "dynamic": ["-buildmode=exe", "-ldflags=-linkmode=external -s -w"],
    "pie": ["-buildmode=pie", "-ldflags=-s -w"],
}


def build(where, isa, name):
    out = os.path.join(where, "%s-%s" % (name, isa))
    p = subprocess.run(
        ["go", "build", *BUILDS[name], "-o", out, SOURCE],
        env=dict(os.environ, GOARCH=GOARCH[isa], GO111MODULE="off",
                 CGO_ENABLED="1" if name == "dynamic" else "0",
                 GOCACHE=GOCACHE),
        capture_output=True, text=True)
    tap.ok(p.returncode == 0, "%s: %s: builds" % (isa, name),
           p.stderr.splitlines())
    return None if p.returncode else out


def outcome(words):
    """status, output, and the first words of messages: goroutines that wait
    are listed with their times and addresses"""
    p = subprocess.run(words, capture_output=True, text=True, timeout=600)
    return p.returncode, p.stdout, p.stderr.splitlines()[:1]


def counts(profile):
    """{procedure: (calls, most often executed instruction)}"""
    rows = json.loads(run(TALLY, "report", "--json", "--image", "*-*",
                          profile))
    most = {}
    for r in json.loads(run(TALLY, "report", "--by", "block", "--json",
                            "--image", "*-*", profile)):
        name = r["procedure"]
        most[name] = max(most.get(name, 0), r["count"] or 0)
    return {r["procedure"]: (r["calls"], most.get(r["procedure"], 0))
            for r in rows}


def wrong(got, word):
    """what is not as often as it has to be"""
    number, marks = WORDS[word]
    want = {"main.mark": (marks, marks)} if marks else {}
    bad = ["%s: %s, not %s" % (n, got.get(n), w) for n, w in want.items()
           if got.get(n) != w]
    if word == "tight" and got.get("main.tight", (0, 0))[1] not in (
            2 * number, 2 * number + 2):
        bad.append("main.tight: %s" % (got.get("main.tight"),))
    return bad


def try_word(where, exe, name, word, isa):
    number, _ = WORDS[word]
    profile = os.path.join(where, "go.tally")
    args = [word, str(number)]
    want = outcome([*emulator(isa), exe, *args])
    got = outcome([TALLY, "count", "--quiet", "--follow", "-o", profile, "--",
                   exe, *args])
    tap.ok(got == want and (want[0] != 0) == (word in ("exit", "crash")),
           "%s: runs" % name, ["%s" % (got,), "%s" % (want,)])
    tap.none(wrong(counts(profile), word), "%s: counts" % name)


def try_poisoned(exe, name):
    """what is dead is dead, in Go's own assembly, too"""
    args = [exe, "curve", "20"]
    got = outcome(["env", "GODEBUG=asyncpreemptoff=1", TALLY, "count",
                   "--quiet", "--placement", "poison", "--", *args])
    tap.ok(got == outcome(args), "%s: curve: poisoned" % name, ["%s" % (got,)])


def try_moved(exe, name):
    """little of it stays where it was"""
    j = json.loads(run(TALLY, "cfg", "--json", exe))
    names = {p["name"] for p in j["procedures"]}
    tap.ok(j["covered_bytes"] > 0.9 * j["text_bytes"] and
           {"main.mark", "runtime.mallocgc"} <= names,
           "%s: is understood" % name,
           [str(j["covered_bytes"]), str(j["text_bytes"])])


with tempfile.TemporaryDirectory() as where:
    os.environ["XDG_CACHE_HOME"] = os.path.join(where, "rewritten")
    for isa in ISAS:
        if emulator(isa) is None:
            tap.skip("%s: Go" % isa, "no emulator")
            continue
        for name in BUILDS if isa == HOST else ["static"]:
            exe = build(where, isa, name)
            if not exe:
                continue
            title = "%s: %s" % (isa, name)
            try_moved(exe, title)
            for word in WORDS if isa == HOST else FOREIGN:
                try_word(where, exe, "%s: %s" % (title, word), word, isa)
            if isa == HOST:
                try_poisoned(exe, title)
tap.done()
