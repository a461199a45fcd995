#!/usr/bin/env python3
"""
report/both: counts and samples of a program, given together, are shown side by
side, with the time that one execution takes; and orders and filters hold for
samples as they do for counts. The samples are made up, so all is known.
"""
import json
import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, "tests/lib")
from rewrite_run import *

TALLY = os.path.abspath(TALLY)
MAKE = os.path.join(os.path.dirname(TALLY), "tools/make-database")
tap = Tap()
SOURCE = """
__attribute__((noinline)) long often(long n) { return n * 3 + 1; }
__attribute__((noinline)) long rare(long n) { return n ^ 5; }
int main(int argc, char **argv)
{
	volatile long x = 0;
	for (int i = 0; i < 1000; i++)
		x = often(x);
	for (int i = 0; i < 10; i++)
		x = rare(x);
	return 0;
}
"""
PERIOD = 1000 # nanoseconds


def same(got, want, name):
    tap.ok(got == want, name, ["got: %r" % (got,), "want: %r" % (want,)])


def build(name, source=SOURCE):
    with open(name + ".c", "w") as f:
        f.write(source)
    run("gcc", "-O1", "-g", "-Wl,--build-id", "-o", name, name + ".c")


def symbols(name):
    return {s: int(a, 16) for a, s in
            re.findall(r"(\w+) T (\w+)$", run("nm", name), re.M)}


def build_id(name):
    return re.search(r"Build ID: (\w+)", run("readelf", "-n", name)).group(1)


def database(name, command, hits, epochs=1):
    """samples of instructions, at their offsets in the program's file"""
    path = os.path.abspath("prog")
    text = ""
    for i in range(epochs):
        text += "epoch %d %d %s\nevent cpu-clock %d 0\n" \
            "build %s\nimage 0 %s\n" % (1000 * i, 1000 * i + 600, command,
                                        PERIOD, build_id(path), path)
        text += "".join("hit %d %d\n" % h for h in hits)
    subprocess.run([MAKE, name], input=text, text=True, check=True)


def report(*words):
    p = subprocess.run([TALLY, "report", "--json", *words], text=True,
                       capture_output=True)
    return (json.loads(p.stdout) if not p.returncode else p.stderr), p.stderr


def by_name(rows):
    return {r["procedure"]: r for r in rows if r["image"] == "prog"}


def try_procedures():
    rows, err = report("prog.tally", "same.db")
    got = by_name(rows)
    often = got["often"]
    time = often["time_per_execution"]
    same((often["calls"], often["samples"], time["unit"], time["value"]),
         (1000, 40, "ns/call", 40 * PERIOD / 1000),
         "counts and samples of a procedure, and the time of a call")
    tap.ok(abs(time["error"] - time["value"] / 40 ** 0.5) < 1e-9,
           "and how sure that is", [str(time)])
    same((got["rare"]["calls"], got["rare"]["time_per_execution"]["value"]),
         (10, 10 * PERIOD / 10), "and of another one")
    same(got["main"]["time_per_execution"], {"unit": "ns/call", "value": None},
         "without samples there is no time")
    same(err, "", "nothing is to be said")
    text = run(TALLY, "report", "--limit", "3", "prog.tally", "same.db")
    tap.ok(re.search(r"^ *instructions +% +calls +cpu-clock +% +cum% +ns/call"
                     r" +± +image +procedure$", text, re.M) and
           re.search(r" 1,000 +40 +80\.00% +\S+ +40\.00 +16% +prog +often$",
                     text, re.M) and
           "50 samples of cpu-clock" in text, "and as a table",
           text.splitlines())


def try_places():
    rows, _ = report("--by", "line", "prog.tally", "same.db")
    line = {r["line"]: r for r in rows if r.get("file", "").endswith("prog.c")}
    same((line[2]["count"], line[2]["samples"],
          line[2]["time_per_execution"]["unit"],
          line[2]["time_per_execution"]["value"]),
         (1000, 40, "ns/execution", 40.0), "a line has both")
    for by in "instruction", "block":
        rows, _ = report("--by", by, "prog.tally", "same.db")
        address = "address" if by == "instruction" else "start"
        at = {int(r[address], 16): r for r in rows if r["image"] == "prog"}
        r = at[known["often"]]
        same((r["count"], r["samples"]), (1000, 40), "%s: both" % by)
    for by in "edge", "call-site":
        rows, _ = report("--by", by, "prog.tally", "same.db")
        tap.ok(rows and "samples" not in rows[0], "%s: counts alone" % by)
    rows, _ = report("--by", "process", "prog.tally", "same.db")
    same([r["instructions"] > 2000 for r in rows], [True],
         "processes: those that counted")


def try_relative():
    rows, err = report("prog.tally", "other.db")
    often = by_name(rows)["often"]
    mean = sum(r["instructions"] or 0 for r in rows) / 50
    tap.ok(often["time_per_execution"]["unit"] == "relative" and
           abs(often["time_per_execution"]["value"] - 40 * mean / 1000) < 1e-6
           and "command lines" in err,
           "other command lines: relative to a mean instruction, and why",
           [str(often), str(mean), err])
    rows, err = report("--same-work", "prog.tally", "other.db")
    same((by_name(rows)["often"]["time_per_execution"]["value"], err),
         (40.0, ""), "--same-work says otherwise")
    rows, _ = report("prog.tally", "twice.db")
    same(by_name(rows)["often"]["time_per_execution"]["value"], 40.0,
         "two epochs are two runs: per run")


def try_other_build():
    build("prog", SOURCE.replace("* 3", "* 5"))
    database("new.db", program, hits)
    rows, err = report("prog.tally", "new.db")
    got = [(r["procedure"], r.get("instructions", "none"), r["samples"])
           for r in rows if r["image"] == "prog" and
           (r["samples"] or r["procedure"] == "often")]
    tap.ok(sum(s for _, _, s in got) == 50 and
           all((n == "none") == (s > 0) for _, n, s in got),
           "another build is another image", [str(got), err])


def try_orders():
    rows, _ = report("--sort", "name", "same.db")
    names = [r["procedure"] for r in rows]
    tap.ok(names == sorted(names) and len(names) == 2, "samples by name",
           [str(names)])
    rows, _ = report("--reverse", "same.db")
    same([r["samples"] for r in rows], [10, 40], "the other way round")
    rows, _ = report("--procedure", "ra*", "same.db")
    same([r["samples"] for r in rows], [10], "by a pattern")
    rows, _ = report("--procedure", hex(known["rare"]), "same.db")
    same([r["samples"] for r in rows], [10], "by an address")


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    os.environ["XDG_CACHE_HOME"] = folder + "/cache"
    build("prog")
    known = symbols("prog")
    program = os.path.abspath("prog")
    run(TALLY, "count", "--quiet", "-o", "prog.tally", program)
    hits = [(known["often"], 40), (known["rare"], 10)]
    database("same.db", program, hits)
    database("other.db", "other", hits)
    database("twice.db", program, hits, 2)
    for test in (try_procedures, try_places, try_relative, try_orders,
                 try_other_build):
        test()
tap.done()
