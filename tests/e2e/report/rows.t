#!/usr/bin/env python3
"""
report/rows: filters, orders and shares of `tally report` leave of a listing
what they say, with every --by; colours are for terminals only.
"""
import os
import pty
import re
import sys
import tempfile

sys.path.insert(0, "tests/lib")
from answers import *

EVERY = ("image", "procedure", "process", "edge", "block", "instruction",
         "call-site", "line")


def rows(t, by, *words):
    return t.parsed("report", "--json", "--by", by, *words)


def check_filters(t, profile):
    for by in EVERY:
        every = rows(t, by, profile)
        if by != "process":
            for word in ("prog", "pr*", "p[n-t]og"):
                t.same(rows(t, by, "--image", word, profile),
                       [r for r in every if r["image"] == "prog"],
                       "--by %s --image %s" % (by, word))
        if "procedure" in every[0]:
            for word, names in (("nested", {"nested"}), ("ch*", {"choose",
                                                                 "changed"}),
                                ("0x%x" % t.entry["nested"], {"nested"})):
                t.same(rows(t, by, "--procedure", word, profile),
                       [r for r in every if r["procedure"] in names],
                       "--by %s --procedure %s" % (by, word))
    status, out, err = t.tally("report", "--procedure", "nobody", profile)
    t.same((status, len(out.splitlines()), "nothing that ran" in err),
           (0, 3, True), "nobody")
    # a name that is no pattern, but looks like one
    lib = t.make("hand")
    t.same([r["procedure"] for r in rows(t, "procedure", "--procedure",
                                         "in\x1bflate", lib)],
           ["in\x1bflate"], "an odd name")


def executed(row, by):
    if by == "block":
        return row["instructions"] * row["count"]
    return row["count"] if by == "instruction" else row["instructions"]


def check_shares(t, profile):
    total = sum(r["instructions"] or 0 for r in rows(t, "image", profile))
    for by in ("image", "procedure", "process", "block", "instruction",
               "line"):
        every = rows(t, by, profile)
        got = rows(t, by, "--min", "5", profile)
        # the C library was not asked for: what it ran is unknown
        t.same(got, [r for r in every if executed(r, by) is None or
                     executed(r, by) >= .05 * total],
               "--by %s --min 5: %d of %d" % (by, len(got), len(every)))
    for by, column in (("block", 1), ("instruction", 1), ("procedure", 1),
                       ("line", 2)):
        lines = t.tally("report", "--by", by, profile)[1].splitlines()[3:]
        want = ["%.2f%%" % (100 * executed(r, by) / total)
                for r in rows(t, by, profile)]
        t.same([l.split()[column] for l in lines], want,
               "--by %s: shares" % by)


def check_orders(t, profile):
    for by in EVERY:
        every = rows(t, by, profile)
        key = "count" if "count" in every[0] else "instructions"
        got = rows(t, by, "--sort", "count", "--reverse", profile)
        counts = [r[key] for r in got if r[key] is not None]
        t.ok(counts == sorted(counts) == [r[key] for r in
                                          got[:len(counts)]] and
             sorted(map(str, got)) == sorted(map(str, every)),
             "--by %s: least first" % by, [str(counts)[:200]])
    got = rows(t, "procedure", "--sort", "calls", profile)
    calls = [r["calls"] for r in got]
    t.ok(calls == sorted(calls, reverse=True) and calls[0] > calls[-1],
         "--sort calls")
    got = [r["procedure"] for r in rows(t, "procedure", "--sort", "name",
                                        profile)]
    t.same(got, sorted(got), "--sort name")
    for by, key in (("procedure", "entry"), ("block", "start"),
                    ("instruction", "address"), ("call-site", "address")):
        got = [int(r[key], 16) for r in rows(t, by, "--sort", "address",
                                             profile)]
        t.ok(got == sorted(got) and len(set(got)) > 5,
             "--by %s --sort address" % by)
    got = [(r["file"], r["line"]) for r in rows(t, "line", "--sort",
                                                "address", profile)]
    t.same(got, sorted(got), "--by line --sort address")
    # what is not known stays last
    hand = t.make("hand")
    got = [r["procedure"] for r in rows(t, "procedure", "--reverse", hand)]
    t.same((got[0], got[-1]), ("odd", "dark"), "--reverse")
    got = [r["procedure"] for r in rows(t, "procedure", "--sort", "calls",
                                        "--reverse", hand)]
    t.same((got[0], got[-1]), ("odd", "dark"), "--sort calls --reverse")


def check_absent(t):
    """Another build is there, the file has gone, or nothing says lines."""
    def said(profile):
        status, out, err = t.tally("report", "--by", "line", profile)
        return status, len(out.splitlines()), err

    def build_id(program):
        return re.search(r"Build ID: (\w+)",
                         run("readelf", "-nW", t.path(program)))[1]

    t.build("once")
    first = build_id("once")
    profile = t.count("o", "once")
    t.build("once", "-DNEWER")
    status, n, err = said(profile)
    t.ok((status, n) == (0, 3) and "it is another build now, %s, than was "
         "measured, %s" % (build_id("once"), first) in err,
         "another build: both are named", [err])
    for command in (("annotate", "nested"), ("graph", "nested", "--json")):
        got = t.tally(*command, profile)
        t.ok(got[0] == 0 and first in got[2] and "nested" in got[1],
             command[0] + " says so, too", [got[2]])
    os.remove(t.path("once"))
    status, n, err = said(profile)
    t.ok((status, n) == (0, 3) and "once: No such file" in err,
         "the file has gone", [err])
    t.build("once", "-Wl,--build-id=none")
    profile = t.count("o", "once")
    t.ok(said(profile)[1] > 10, "no build-id, the same bytes")
    t.build("once", "-Wl,--build-id=none", "-DNEWER")
    status, n, err = said(profile)
    t.ok((status, n) == (0, 3) and "it has changed" in err,
         "no build-id, other bytes", [err])
    t.build("once", "-g0")
    t.ok("compilers make it with -g" in said(t.count("o", "once"))[2],
         "no debug information")


def on_terminal(t, *words, **env):
    """What a terminal gets."""
    pid, fd = pty.fork()
    if not pid:
        os.chdir(t.where)
        os.execve(TALLY, [TALLY, *words], {**os.environ, "TERM": "xterm",
                                           **env})
    out = b""
    try:
        while True:
            more = os.read(fd, 4096)
            if not more:
                break
            out += more
    except OSError:
        pass
    os.close(fd)
    os.waitpid(pid, 0)
    return out.decode().replace("\r\n", "\n")


def check_colours(t, profile):
    plain = t.tally("report", profile)[1]
    seen = on_terminal(t, "report", profile)
    every = rows(t, "procedure", profile)
    total = sum(r["instructions"] for r in every)
    looks = [r"\x1b\[1;31m%s\x1b\[0m" if r["instructions"] >= .1 * total
             else r"\x1b\[35m%s\x1b\[0m" if r["instructions"] >= .02 * total
             else r"(?:^|  )%s  " for r in every]
    bad = [str(r) for r, look, line in zip(every, looks,
                                           seen.splitlines()[3:])
           if not re.search(look % "{:,}".format(r["instructions"]), line)]
    t.ok(not bad and len(set(looks)) == 3, "what ran most is red", bad)
    t.same(re.sub(r"\x1b\[[0-9;]*m", "", seen), plain,
           "but for colours it is the same")
    t.same(on_terminal(t, "report", profile, NO_COLOR="1"), plain,
           "NO_COLOR")


with tempfile.TemporaryDirectory() as where:
    t = Asker(where)
    t.build("prog")
    profile = t.count("p", "prog", "50", "20")
    t.entry = {r["procedure"]: int(r["entry"], 16)
               for r in rows(t, "procedure", profile)}
    check_filters(t, profile)
    check_shares(t, profile)
    check_orders(t, profile)
    check_colours(t, profile)
    check_absent(t)
    t.refused(2, "processes are in no image", "report", "--by", "process",
              "--image", "prog", profile)
    t.refused(2, "--procedure does not go", "report", "--by", "line",
              "--procedure", "main", profile)
    t.refused(2, "--min does not go", "report", "--by", "edge", "--min", "1",
              profile)
    t.refused(2, "--sort calls goes", "report", "--by", "block", "--sort",
              "calls", profile)
    t.refused(2, "--sort takes count", "report", "--sort", "colour", profile)
    t.refused(2, "percentage", "report", "--min", "101", profile)
    t.done()
