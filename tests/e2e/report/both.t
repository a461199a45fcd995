#!/usr/bin/env python3
"""
report/both: counts and samples of a program, given together, are shown side by
side, with the time that one execution takes; and orders and filters hold for
samples as they do for counts. The samples are made up, so all is known.
"""
import gzip
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
    """of a source that is called the same, as a program is built anew"""
    with open("prog.c", "w") as f:
        f.write(source)
    run("gcc", "-O1", "-g", "-Wl,--build-id", "-o", name, "prog.c")


def symbols(name):
    return {s: int(a, 16) for a, s in
            re.findall(r"(\w+) T (\w+)$", run("nm", name), re.M)}


def build_id(name):
    return re.search(r"Build ID: (\w+)", run("readelf", "-n", name)).group(1)


def database(name, command, hits, epochs=1, path="prog"):
    """samples of instructions, at their offsets in the program's file"""
    path = os.path.abspath(path)
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


def try_export():
    both = run(TALLY, "export", "--format", "tsv", "prog.tally", "same.db")
    at = {tuple(r[:2]): r[2:] for r in
          (line.split("\t") for line in both.splitlines())}
    same(at["prog", hex(known["often"])], ["1000", "40"], "tsv: both")
    counts = run(TALLY, "export", "--format", "tsv", "prog.tally")
    same(["\t".join(line.split("\t")[:3]) for line in both.splitlines()],
         counts.splitlines(), "and the counts as without samples")
    text = run(TALLY, "export", "--format", "callgrind", "prog.tally",
               "same.db")
    tap.ok("\nevents: Ir cpu-clock\n" in text and
           re.search(r"^summary: \d+ 50$", text, re.M) and
           re.search(r"^0x%x 2 1000 40$" % known["often"], text, re.M) and
           re.search(r"^calls=1000 .*\n0x\w+ \d+ 0 0$", text, re.M),
           "callgrind: both", text.splitlines()[:20])
    data = json.loads(run(TALLY, "export", "--format", "json", "prog.tally",
                          "same.db"))
    image = [m for m in data["images"] if m["image"] == "prog"][0]
    often = [p for p in image["procedures"] if p["procedure"] == "often"][0]
    same((data["events"][0]["samples"], image["samples"], often["calls"],
          often["samples"], often["blocks"][0]["count"],
          often["blocks"][0]["samples"]),
         (50, [50], 1000, [40], 1000, [40]), "json: both")
    with open("both.pb.gz", "wb") as out:
        subprocess.run([TALLY, "export", "--format", "pprof", "prog.tally",
                        "same.db"], stdout=out, check=True)
    with gzip.open("both.pb.gz") as f:
        raw = f.read()
    # a sample: packed values 1000, 0, 40 (field 2, in 4 bytes)
    tap.ok(b"\x12\x04\xe8\x07\x00\x28" in raw, "pprof: both in one sample")
    p = subprocess.run([TALLY, "export", "--format", "folded", "prog.tally",
                        "same.db"], text=True, capture_output=True)
    tap.ok("prog;often" in p.stdout and "samples are left out" in p.stderr,
           "folded: counts, and that samples are left out", [p.stderr])


def diff(*words):
    p = subprocess.run([TALLY, "diff", "--json", *words], text=True,
                       capture_output=True)
    data = json.loads(p.stdout) if p.returncode < 2 else {}
    return data, p


def try_diff():
    """another build: often() runs twice as often, and main() is longer"""
    os.makedirs("new", exist_ok=True)
    build("new/prog", SOURCE.replace("i < 1000", "i < 2000")
          .replace("x = rare(x);", "x = rare(x) + rare(x + 1);"))
    path = os.path.abspath("new/prog")
    at = symbols("new/prog")
    run(TALLY, "count", "--quiet", "-o", "new.tally", path)
    database("after.db", path, [(at["often"], 320), (at["rare"], 20)], 1, path)
    database("before.db", program, [(known["often"], 160),
                                    (known["rare"], 180)])
    both = ["prog.tally", "before.db", "new.tally", "after.db"]
    data, p = diff(*both)
    rows = by_name(data["rows"])
    often = rows["often"]
    same((often["calls_before"], often["calls_after"],
          often["samples"]["before"], often["samples"]["after"],
          often["samples"]["significant"], p.returncode),
         (1000, 2000, 160, 320, True, 1), "diff: both, of two builds")
    same((often["time_per_execution_before"]["value"],
          often["time_per_execution_after"]["value"],
          often["time_per_execution_after"]["unit"]),
         (160.0, 160.0, "ns/call"), "and what a call took")
    same((data["before"]["profile"], data["before"]["database"],
          data["after"]["instructions"] > data["before"]["instructions"],
          data["event"]),
         ("prog.tally", "before.db", True, "cpu-clock"), "and of what")
    counts, _ = diff("prog.tally", "new.tally")
    alone, _ = diff("--all", "before.db", "after.db")
    same([{k: v for k, v in r.items()
           if k != "samples" and not k.startswith("time_")}
          for r in data["rows"] if "code" in r], counts["rows"],
         "the counts are those of profiles alone")
    same({r["procedure"]: r["samples"] for r in data["rows"]
          if "samples" in r},
         {r["procedure"]: {k: v for k, v in r.items()
                           if k not in ("image", "procedure")}
          for r in alone["rows"]}, "the samples are those of databases alone")
    other = diff("new.tally", "after.db", "prog.tally", "before.db")[0]
    same(by_name(other["rows"])["often"]["calls_before"], 2000,
         "the first ones are before")
    same(diff("prog.tally", "new.tally", "before.db", "after.db")[0], data,
         "profiles first, or databases, is the same")
    for by, where in (("line", "line"), ("block", "start_before"),
                      ("instruction", "address_before"), ("image", "image")):
        data, p = diff("--by", by, *both)
        rows = [r for r in data["rows"] if r["image"] == "prog" and
                "samples" in r and where in r]
        tap.ok(rows and all("before" in r for r in rows),
               "diff --by %s: both" % by, [p.stderr, p.stdout[:600]])
        data, p = diff("--by", by, "prog.tally", "prog.tally")
        same((p.returncode, data["rows"]), (0, []),
             "diff --by %s: nothing changed" % by)
    text = subprocess.run([TALLY, "diff", *both], text=True,
                          capture_output=True).stdout
    tap.ok(re.search(r"change +% +before +after +calls before +after +edges "
                     r"+code +points +from +to +% before +after +samples "
                     r"before +after +ns/call +± +after +± +image +procedure",
                     text), "and as a table", text.splitlines())
    database("odd.db", "other", [(known["often"], 160)])
    data, p = diff("prog.tally", "odd.db", "new.tally", "after.db")
    tap.ok("command lines" in p.stderr and
           by_name(data["rows"])["often"]["time_per_execution_after"]["unit"]
           == "relative", "other command lines: relative, and why", [p.stderr])
    data, p = diff("prog.tally", "before.db")
    tap.ok(p.returncode == 2 and "each side" in p.stderr,
           "a profile and a database are not two sides", [p.stderr])


def try_stats():
    both = json.loads(run(TALLY, "stats", "--json", "prog.tally",
                          "prog.tally", "same.db", "varied.db"))
    often = by_name(both["rows"])["often"]
    same((often["min"], often["range"], often["runs"],
          often["samples"]["min"], often["samples"]["max"],
          [sorted(r) for r in both["runs"]]),
         (often["max"], 0.0, 2, 40, 60,
          [["complete", "instructions", "profile"]] * 2 +
          [["database", "samples"]] * 2), "stats: how both vary")
    for words, key in (["prog.tally"] * 2, None), (["same.db", "varied.db"],
                                                   "samples"):
        alone = json.loads(run(TALLY, "stats", "--json", *words))["rows"]
        got = [{"image": r["image"], "procedure": r["procedure"],
                **(r[key] if key else {k: v for k, v in r.items()
                                       if k != "samples"})}
               for r in both["rows"] if (key or "range") in r]
        order = lambda r: (r["image"], r["procedure"])
        same(sorted(got, key=order), sorted(alone, key=order),
             "stats: as of %s alone" % words[0])
    text = run(TALLY, "stats", "prog.tally", "prog.tally", "same.db",
               "varied.db")
    tap.ok(re.search(r"range +min .* runs +range of samples +min .* runs "
                     r"+image +procedure$", text, re.M), "and as a table",
           text.splitlines())


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
    database("varied.db", program, [(known["often"], 60),
                                    (known["rare"], 10)])
    for test in (try_procedures, try_places, try_relative, try_orders,
                 try_export, try_stats, try_diff, try_other_build):
        test()
tap.done()
