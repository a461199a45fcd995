#!/usr/bin/env python3
"""
databases: answers about databases of samples whose every number is known, since
they were made up: report with several events, epochs, hosts, times and
processes; stats, whose figures Python's own statistics confirm; diff, which
marks what has changed and nothing else; exports, which the tools that they are
for read back; graph, whose blocks have the samples of their instructions.
"""
import datetime
import glob
import json
import os
import re
import statistics
import sys
import tempfile

sys.path.insert(0, "tests/lib")
from answers import *

MAKE_DB = os.path.join(os.path.dirname(TALLY), "tools/make-database")
DAY = 86400
START = 1699920000 # the first second of a day


def make(t, name, text):
    p = subprocess.run([MAKE_DB, t.path(name)], input=text, text=True,
                       stdout=subprocess.PIPE, check=True)
    return p.stdout.split()


def epoch(number, counts, event="cycles", command="work", period=60000):
    """Procedures p0, p1, .. of a file that is not there: by offset."""
    lines = ["epoch %d %d %s" % (START + number * DAY,
                                 START + number * DAY + 600, command),
             "event %s %d 0" % (event, period), "image 0 /gone/prog"]
    lines += ["hit %d %d" % (4 * i, n) for i, n in enumerate(counts) if n]
    lines.append("process 7 prog %d" % sum(counts))
    return "\n".join(lines) + "\n"


def rows(t, *words):
    got = t.parsed("report", "--json", *words)
    return got


def counts(t, *words):
    return [r["samples"] for r in rows(t, *words)]


def try_report(t):
    make(t, "db", epoch(0, [30, 10]) + epoch(1, [5, 15]) +
         "event misses 0 3\nhit 4 8\nhit 0 2\nimage 1 [kernel]\nhit 64 90\n" +
         epoch(2, [100, 0], command="other"))
    got = {r["address"]: r for r in rows(t, "--by", "instruction", "db")}
    t.same({a: (r["samples"], r["events"]) for a, r in got.items()},
           {"0x0": (135, {"cycles": 135, "misses": 2}),
            "0x4": (25, {"cycles": 25, "misses": 8}),
            "0x40": (0, {"cycles": 0, "misses": 90})},
           "events side by side, the kernel too")
    t.same([(round(r["percent"], 6), round(r["cumulative"], 6))
            for r in rows(t, "--by", "instruction", "db")],
           [(84.375, 84.375), (15.625, 100), (0, 100)],
           "percent and cumulative percent")
    status, out, _ = t.tally("report", "--by", "instruction", "db")
    t.ok(not status and out.startswith("160 samples of cycles, 100 samples "
                                       "of misses\n") and
         re.search(r"^ *cycles +% +cum% +misses +% ", out, re.M) and
         re.search(r"^ +135 +84.38% +84.38% +2 +2.00% ", out, re.M),
         "and as a table", out.splitlines())
    t.same([(r["epoch"], r["samples"], r["command"], r["end"] - r["start"])
            for r in rows(t, "--by", "epoch", "db")],
           [(1, 40, "work", 600), (2, 20, "work", 600),
            (3, 100, "other", 600)], "epochs, in their order")
    for words, want in ((["--epoch", "1"], [30, 10]),
                        (["--epoch", "2-3"], [105, 15]),
                        (["--epoch", "last"], [100]),
                        (["--epoch=all"], [135, 25]),
                        (["--event", "misses", "--image", "prog"], [8, 2])):
        t.same([n for n in counts(t, "--by", "instruction", *words, "db")
                if n], want, "report " + " ".join(words))
    day = datetime.datetime.fromtimestamp(START + DAY).isoformat()
    late = datetime.datetime.fromtimestamp(START + DAY + 601).isoformat()
    t.same([r["epoch"] for r in rows(t, "--by", "epoch", "--since", day,
                                     "db")], [2, 3], "since it began")
    t.same([r["epoch"] for r in rows(t, "--by", "epoch", "--since", late,
                                     "db")], [3], "since it was over")
    t.same([r["epoch"] for r in rows(t, "--by", "epoch", "--until", day,
                                     "db")], [1, 2], "until it began")
    t.same([r["epoch"] for r in rows(t, "--by", "epoch", "--until", day[:10],
                                     "--since", day[:10], "db")], [2],
           "a day")
    for status, why, *words in (
            (3, "no such epoch; the last is 3", "--epoch", "7"),
            (3, "no host is called 'no'", "--host", "no"),
            (3, "event 'no'", "--event", "no"),
            (3, "'prog' were kept apart", "--process", "prog"),
            (3, "no such epoch", "--since", "2199-01-01"),
            (2, "--epoch takes all, last", "--epoch", "0"),
            (2, "--epoch takes all, last", "--epoch", "3-2"),
            (2, "--epoch takes all, last", "--epoch", "x-2"),
            (2, "--since takes", "--since", "yesterday")):
        t.refused(status, why, "report", *words, "db")
    t.make("profile")
    for command in ("report", "stats", "export --format tsv"):
        t.refused(2, "--epoch is for databases", *command.split(),
                  "--epoch", "1", "profile/profile", "profile/profile")
    t.refused(2, "it takes two or more PROFILEs", "stats", "db",
              "profile/profile")
    t.refused(2, "a profile of each side, beside databases", "diff", "db",
              "profile/profile")
    status, out, err = t.tally("export", "--format", "tsv", "db",
                               "profile/profile")
    t.ok(not status and all(line.count("\t") == 4 for line in
                            out.splitlines()),
         "export: counts and samples side by side", [status, out, err])


def try_many(t):
    """as many events as there may be: a table of 37 columns"""
    make(t, "many", "epoch 0 600 work\n" + "".join(
        "event e%d 5 0\nimage 4 [memory]\nhit %d 9\n" % (i, i)
        for i in range(16)))
    status, out, _ = t.tally("report", "--by", "instruction", "many")
    lines = out.splitlines()
    t.ok(not status and len(lines) == 19 and
         len({len(x.split()) for x in lines[3:]}) == 1 and
         len(lines[3]) < 400, "16 events side by side",
         [str(status)] + [x[:200] for x in lines])
    for words in ["annotate", "0x0", "many"], ["report", "many"]:
        status, out, err = t.tally(*words)
        t.ok(not status and "e15" in out and
             all(len(x) < 800 for x in out.splitlines()),
             "16 events: " + words[0], [status, out[:500], err])


def try_hosts(t):
    (file,) = glob.glob(t.path("db") + "/*.tallydb")
    os.mkdir(t.path("two"))
    for name in ("alpha", "beta"):
        with open("%s/%s.tallydb" % (t.path("two"), name), "wb") as f:
            f.write(open(file, "rb").read())
    t.same(counts(t, "--by", "image", "two"), [320, 0], "two hosts together")
    t.same(counts(t, "--by", "image", "--host", "al*", "two"), [160, 0],
           "one of them")
    t.same([(r["host"], r["epoch"]) for r in
            rows(t, "--by", "epoch", "--epoch", "last", "two")],
           [("alpha", 3), ("beta", 3)], "the last epoch of each")
    t.same(counts(t, "--by", "image", "db", "two"), [480, 0],
           "two databases together")


def try_apart(t):
    make(t, "apart", epoch(0, [10, 20]) + "apart prog\nhit 0 4\n"
         "apart other\nhit 8 6\ntogether\nhit 0 1\n")
    t.same(counts(t, "--by", "instruction", "apart"), [20, 15, 6],
           "all processes")
    t.same(counts(t, "--by", "instruction", "--process", "prog", "apart"),
           [4], "one that was kept apart")
    t.same(counts(t, "--by", "instruction", "--process", "other", "apart"),
           [6], "and another")


def try_condense(t):
    said = make(t, "old", "".join(epoch(i / 10, [i + 1, 2])
                                  for i in range(30)) +
                "condense %d %d %d\n" % (DAY, 90 * DAY, START + 20 * DAY))
    before = sum(i + 1 for i in range(30))
    got = rows(t, "--by", "epoch", "old")
    t.ok(int(said[0]) == 30 - len(got) and len(got) < 6,
         "old epochs of a day become one", [said, got])
    t.same(counts(t, "--by", "instruction", "old"), [before, 60],
           "and nothing is lost")
    t.same([(r["pid"], r["process"]) for r in
            rows(t, "--by", "process", "--epoch", "1", "old")],
           [(0, "prog")], "processes are known by name")


def try_stats(t):
    """The figures, from Python's statistics."""
    samples = [[100 + 7 * i * (k % 3) + 13 * k for i in range(5)]
               for k in range(6)]
    make(t, "runs", "".join(epoch(k, n) for k, n in enumerate(samples)))
    got = t.parsed("stats", "--json", "--by", "image", "runs")
    totals = [sum(n) for n in samples]
    t.same([r["samples"] for r in got["runs"]], totals, "stats: the runs")
    (row,) = got["rows"]
    want = {"min": min(totals), "max": max(totals), "sum": sum(totals),
            "mean": statistics.mean(totals), "runs": 6,
            "deviation": statistics.stdev(totals),
            "range": (max(totals) - min(totals)) / sum(totals)}
    t.ok(all(abs(row[k] - v) < 1e-6 * v for k, v in want.items()),
         "sum, mean, deviation and range", [row, want])
    make(t, "gaps", epoch(0, [50, 8]) + epoch(1, [40, 0]) +
         "image 0 /gone/lib.so\nhit 0 9\n")
    got = t.parsed("stats", "--json", "--by", "image", "gaps")["rows"]
    t.same([(r["image"], r["min"], r["max"], r["runs"]) for r in got],
           [("lib.so", 0, 9, 2), ("prog", 40, 58, 2)],
           "what a run does not have is 0 there; most range first")
    status, out, _ = t.tally("stats", "--by", "image", "runs", "gaps")
    t.ok(not status and "run 1  %d,%03d samples  runs\n" %
         divmod(sum(totals), 1000) in out and
         "run 2  107 samples  gaps\n" in out and
         "samples of cycles" in out, "databases are runs", out.splitlines())
    t.refused(3, "it takes two", "stats", "--epoch", "1", "runs")


def try_diff(t):
    """Known shifts are found, and nothing else is."""
    rng = random.Random(4)
    base = [int(60000 / (i + 2)) for i in range(60)]

    def noisy(shift):
        return [max(0, round(rng.gauss(n * (1 + (shift if i == 3 else 0)),
                                       n ** 0.5)))
                for i, n in enumerate(base)]
    for name, shift in (("before", 0), ("same", 0), ("after", 0.2)):
        make(t, name, "".join(epoch(k, noisy(shift)) for k in range(4)))
    words = ["diff", "--json", "--by", "instruction"]
    got = t.parsed(*words, "before", "same")
    t.ok(not got["differ"] and not got["rows"] and
         got["noise"]["source"] == "epochs", "diff: the same load", [got])
    t.same(t.tally("diff", "before", "same")[0], 0, "status 0: no change")
    got = t.parsed(*words, "before", "after")
    first = got["rows"][0]
    t.ok(got["differ"] and first["address"] == "0xc" and
         first["significant"] and len(got["rows"]) <= 3 and
         0 < first["low"] < first["change"] < first["high"],
         "what takes more is found", [got])
    t.same(t.tally("diff", "--by", "instruction", "before", "after")[0], 1,
           "status 1: something changed")
    every = t.parsed(*words, "--all", "before", "after")["rows"]
    t.same((len(every), sum(r["before"] for r in every),
            sum(r["significant"] for r in every)),
           (60, got["before"]["samples"], len(got["rows"])),
           "--all lists all of it")
    t.same(t.parsed(*words, "--min", "50", "before", "after")["rows"], [],
           "only large changes")
    make(t, "both", "".join(epoch(k, noisy(0)) for k in range(4)) +
         "".join(epoch(k, noisy(0.2)) for k in range(4, 8)))
    got = t.parsed(*words, "--epoch", "1-4", "--against", "5-8", "both")
    t.ok(got["differ"] and got["rows"][0]["address"] == "0xc" and
         got["before"]["epochs"] == 4, "epochs of one database", [got])
    got = t.parsed(*words, "--epoch", "1-2", "--against", "3-4", "both")
    t.ok(not got["differ"], "the same load again", [got])
    got = t.parsed(*words, "--epoch", "1", "--against", "5", "both")
    t.ok(got["noise"]["source"] == "most", "one epoch each: most rows tell",
         [got["noise"]])
    status, out, _ = t.tally("diff", "--by", "instruction", "before", "after")
    t.ok("4 epochs" in out and re.search(r"^\* +\+\d", out, re.M),
         "and as a table", out.splitlines())
    t.refused(2, "two DBs", "diff", "before")
    t.refused(2, "two DBs", "diff", "--against", "2", "before", "after")
    t.refused(2, "samples are not counted by edge", "diff", "--by", "edge",
              "before", "after")
    t.refused(2, "--fdr takes", "diff", "--fdr", "0", "before", "after")
    t.refused(3, "nothing in them is called so", "diff", "--image", "no",
              "before", "after")
    t.refused(3, "no such epoch", "diff", "--epoch", "1", "--against", "9",
              "both")


def try_diff_made(t):
    """code that programs make is theirs, whatever number they had"""
    for name, pid, hot in (("made1", 100, 59), ("made2", 200, 417)):
        make(t, name, "".join(
            "epoch %d000 %d900 node\nevent cycles 60000 0\n"
            "image 6 [made by node %d]\nprocedure 4096 8192 hotA\n"
            "procedure 8192 12288 hotB\nhit 4100 %d\nhit 8200 %d\n"
            "image 6 [made again by node %d]\nprocedure 64 128 hotB\n"
            "hit 70 %d\n" % (i, i, pid + i, 10000 - 10 * hot, 5 * hot,
                             pid + i, 5 * hot) for i in (1, 2, 3)))
    got = {r["procedure"]: r for r in json.loads(
        t.tally("diff", "--json", "made1", "made2")[1])["rows"]}
    t.ok(got.get("hotB", {}).get("image") == "[made by node]" and
         abs(got["hotB"]["percent_before"] - 5.9) < 0.1 and
         abs(got["hotB"]["percent_after"] - 41.7) < 0.1,
         "diff: code that a program makes, in other processes", [got])
    status, out, _ = t.tally("diff", "--epoch", "1", "--against", "2",
                             "made1")
    t.ok("one epoch on each side" in out, "diff: one epoch on each side says "
         "what it needs", [out])


def offset_of(t, program, name):
    """Where a procedure's instructions are in the file, by readelf."""
    text = run("readelf", "-lW", t.path(program))
    (load,) = re.findall(r"LOAD +(0x\w+) (0x\w+) .*R E ", text)
    shift = int(load[0], 16) - int(load[1], 16)
    code = re.findall(r"^ +([0-9a-f]+):\t", run(
        "objdump", "-d", "--no-show-raw-insn", "--disassemble=" + name,
        t.path(program)), re.M)
    return [int(a, 16) + shift for a in code], [int(a, 16) for a in code]


def exports(t, form):
    p = subprocess.run([TALLY, "export", "--format", form, "real"],
                       cwd=t.where, stdout=subprocess.PIPE, check=True)
    return p.stdout


def try_real(t):
    """Samples of a program that is there."""
    t.build("prog")
    offsets, addresses = offset_of(t, "prog", "main")
    hits = {a: 3 + 7 * i for i, a in enumerate(addresses)}
    make(t, "real", "epoch 5 9 work\nevent cycles 1 0\nimage 0 %s\n" %
         t.path("prog") + "".join("hit %d %d\n" % (o, hits[a]) for o, a in
                                  zip(offsets, addresses)) +
         "image 1 [kernel]\nhit 64 5\n")
    want = {("prog", a): n for a, n in hits.items()}
    want["[kernel]", 64] = 5
    total = sum(hits.values())
    got = {(w[0], int(w[1], 16)): int(w[2]) for w in
           (line.split("\t") for line in
            exports(t, "tsv").decode().splitlines())}
    t.same(got, want, "tsv: every instruction")
    t.ok("prog;main %d\n" % total in exports(t, "folded").decode(),
         "folded: procedures")
    got = json.loads(exports(t, "json"))
    t.same({(m["image"], int(i["address"], 16)): i["samples"][0]
            for m in got["images"] for p in m["procedures"]
            for i in p["instructions"]}, want, "json: the same")
    t.same(got["events"][0]["samples"], total + 5, "json: events")
    with open(t.path("callgrind.out"), "wb") as f:
        f.write(exports(t, "callgrind"))
    text = run("callgrind_annotate", "--threshold=100",
               t.path("callgrind.out"))
    mine = re.findall(r"^ *([\d,]+) \(.*:main\b", text, re.M)
    t.ok("Events recorded:  cycles" in text and
         sum(int(n.replace(",", "")) for n in mine) == total,
         "callgrind_annotate reads it",
         [total, mine] + text.splitlines()[14:26])
    with open(t.path("real.pb.gz"), "wb") as f:
        f.write(exports(t, "pprof"))
    text = run("go", "tool", "pprof", "-symbolize=none", "-raw",
               t.path("real.pb.gz"), env=dict(os.environ, HOME=t.where))
    values = [int(n) for n in re.findall(r"^ +(\d+): ", text.split(
        "Samples:")[1].split("Locations")[0], re.M)]
    t.ok("samples/count" in text and sum(values) == total + 5 and
         sorted(values) == sorted(want.values()), "pprof reads it",
         text.splitlines()[:20])
    with open(t.path("real.afdo"), "wb") as f:
        f.write(exports(t, "autofdo"))
    profdata = sorted(glob.glob("/usr/bin/llvm-profdata*"))[-1]
    text = run(profdata, "show", "--sample", t.path("real.afdo"))
    got = re.search(r"Function: main: (\d+), 0, ", text)
    # what the compiler gave no line to is not there
    t.ok(got and 0.8 * total <= int(got[1]) <= total,
         "llvm-profdata reads it", text.splitlines()[:9])
    for form in ("lcov", "gcov", "pixie", "bolt"):
        t.refused(2, "how often code ran", "export", "--format", form, "real")
    try_graph(t, hits)


def try_graph(t, hits):
    got = t.parsed("graph", "--json", "main", "real")
    blocks = [(int(b["start"], 16), int(b["end"], 16), b["samples"])
              for b in got["blocks"]]
    t.same([n for _, _, n in blocks],
           [sum(n for a, n in hits.items() if start <= a < end)
            for start, end, _ in blocks],
           "graph: a block has the samples of its instructions")
    t.ok(got["samples"] + got["samples_elsewhere"] == sum(hits.values()) and
         all(e["count"] is None for e in got["edges"]),
         "ways have no counts", [got["samples"], got["edges"][:2]])
    status, out, err = t.tally("graph", "main", "real")
    t.ok(not status and "samples of cycles" in out and "<svg" in out,
         "graph: a picture", [err])
    t.refused(3, "it is no file", "graph", "--image", "[kernel]", "0x40",
              "real")
    t.refused(3, "no procedure called", "graph", "nowhere", "real")
    os.rename(t.path("prog"), t.path("prog.gone"))
    status, _, err = t.tally("graph", "--image", "prog", "0x0", "real")
    t.ok(status == 3 and "cannot be drawn" in err, "without its file",
         [status, err])


with tempfile.TemporaryDirectory() as where:
    tap = Asker(where)
    for test in (try_report, try_many, try_hosts, try_apart, try_condense,
                 try_stats, try_diff, try_diff_made, try_real):
        test(tap)
tap.done()
