#!/usr/bin/env python3
"""
count/report: `tally report`, `export` and `snapshot` on a profile whose counts
were worked out by hand (tests/tools/make-profile.c), live and finished; what
they say where counts are not known; and hostile files.
"""
import json
import os
import random
import re
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, "tests/lib")
from cfg_oracle import TALLY, Tap
from patience import PATIENCE

tap = Tap()
MAKE = os.path.join(os.environ.get("BUILD", "build"), "tools/make-profile")
MUTANTS = int(os.environ.get("PROFILE_MUTANTS", "150"))

TOTAL = "at least 5,000,000,056 instructions\n\n"
PROCEDURES = TOTAL + """\
 instructions        %          calls  image      procedure
5,000,000,020  100.00%  1,000,000,005  libz.so.1  in%1bflate
           26    0.00%              2  prog       main
            8    0.00%              2  prog       fn_2000
            2    0.00%              1  prog       odd
      unknown                 unknown  prog       dark
"""
IMAGES = TOTAL + """\
 instructions        %  counters     increments  not measured  image
5,000,000,020  100.00%         2  1,000,000,005         0.00%  libz.so.1
          36+    0.00%         9             17        20.00%  prog
not measured: the dynamic loader, the vdso, and the share of each image's code that is left in place
"""
PROCESSES = TOTAL + """\
process      pid  parent    instructions  name
      1  5000101       -  5,000,000,046+  prog
      2  5000102       1             10+  prog
"""
EDGES = TOTAL + """\
        count    from      to  kind      image      procedure
1,000,000,005       -   0x500  entry     libz.so.1  in%1bflate
1,000,000,005   0x500       -  to-hub    libz.so.1  in%1bflate
1,000,000,000       -   0x509  from-hub  libz.so.1  in%1bflate
1,000,000,000   0x509       -  return    libz.so.1  in%1bflate
            7  0x100c  0x100c  taken     prog       main
"""
BLOCKS = TOTAL + """\
        count       %   start  instructions  image      procedure
1,000,000,005  60.00%   0x500             3  libz.so.1  in%1bflate
1,000,000,000  40.00%   0x509             2  libz.so.1  in%1bflate
            9   0.00%  0x100c             2  prog       main
            5   0.00%   0x50d             1  libz.so.1  in%1bflate
"""
SITES = TOTAL + """\
      count    site  callee  kind           image      procedure   callee's image  callee
999,999,998   0x504   0x509  indirect-jump  libz.so.1  in%1bflate  libz.so.1       in%1bflate
          5   0x504   0x50d  indirect-jump  libz.so.1  in%1bflate  libz.so.1       in%1bflate
          3   0x50d  0x2000  indirect-jump  libz.so.1  in%1bflate  prog            fn_2000
          2   0x504       -  indirect-jump  libz.so.1  in%1bflate  -               pairs are missing
          2   0x50d       -  indirect-jump  libz.so.1  in%1bflate  -               in code that is not counted
          2  0x1008  0x2000  call           prog       main        prog            fn_2000
          2  0x5000       -  indirect-call  prog       odd         -               pairs were not measured
"""
TSV = """\
libz.so.1\t0x500\t1000000005
libz.so.1\t0x501\t1000000005
libz.so.1\t0x504\t1000000005
libz.so.1\t0x509\t1000000000
libz.so.1\t0x50b\t1000000000
libz.so.1\t0x50d\t5
prog\t0x1000\t2
prog\t0x1004\t2
prog\t0x1008\t2
prog\t0x100c\t9
prog\t0x1010\t9
prog\t0x1014\t2
prog\t0x2000\t2
prog\t0x2004\t2
prog\t0x2008\t2
prog\t0x200c\t2
prog\t0x5000\t2
"""
UNKNOWN = "tally: counts of 1 procedure are not known in prog\n"


def tally(*words):
    """(status, output, messages)."""
    p = subprocess.run([TALLY, *words], stdout=subprocess.PIPE,
                       stderr=subprocess.PIPE, text=True, errors="replace",
                       timeout=PATIENCE)
    return p.returncode, p.stdout, p.stderr


def same(got, want, name):
    tap.ok(got == want, name, ["got: %r" % (got,), "want: %r" % (want,)])


def make(where, *words):
    subprocess.run([MAKE, where, *words], check=True)
    return os.path.join(where, "profile")


def parsed(*words):
    return json.loads(tally(*words)[1])


def texts(profile, form):
    for by, rows, want in (("procedure", 99, PROCEDURES), ("image", 9, IMAGES),
                           ("process", 9, PROCESSES), ("edge", 5, EDGES),
                           ("block", 4, BLOCKS), ("call-site", 9, SITES)):
        same(tally("report", "--by", by, "--limit=%d" % rows, profile),
             (0, want, UNKNOWN), "%s: --by %s" % (form, by))
    same(tally("report", profile)[1], PROCEDURES,
         "%s: procedures are the default" % form)
    same(tally("report", "--limit", "1", profile)[1].count("\n"), 4,
         "%s: --limit" % form)
    lines = tally("report", "--by=instruction", profile)[1].splitlines()
    same(lines[8], "            9   0.00%   0x100c  prog       main",
         "%s: --by instruction" % form)
    same(len(lines), 20, "%s: all instructions that ran" % form)


def machine_readable(profile, form):
    rows = parsed("report", "--json", profile)
    same([r["procedure"] for r in rows],
         ["in\x1bflate", "main", "fn_2000", "odd", "dark"],
         "%s: procedures as JSON" % form)
    same(rows[1], {"image": "prog", "procedure": "main", "entry": "0x1000",
                   "calls": 2, "instructions": 26}, "%s: a procedure" % form)
    same(rows[4], {"image": "prog", "procedure": "dark", "entry": "0x3000",
                   "calls": None, "instructions": None,
                   "unknown": "an indirect jump"},
         "%s: what is not known is null, and says why" % form)
    rows = parsed("report", "--by", "edge", "--json", profile)
    main = {r["kind"]: (r["from"], r["to"], r["count"]) for r in rows
            if r["procedure"] == "main"}
    same(main, {"entry": (None, "0x1000", 2), "call": ("0x1000", "0x2000", 2),
                "after-call": ("0x1000", "0x100c", 2),
                "taken": ("0x100c", "0x100c", 7),
                "fall": ("0x100c", "0x1014", 2),
                "return": ("0x1014", None, 2)}, "%s: edges as JSON" % form)
    same([(r["from"], r["to"], r["hub"], r["count"]) for r in rows
          if "hub" in r], [("0x500", None, 0, 1000000005),
                           (None, "0x509", 0, 1000000000),
                           (None, "0x50d", 0, 5)], "%s: a hub" % form)
    sites = parsed("report", "--by", "call-site", "--json", profile)
    same(sites[2], {"image": "libz.so.1", "procedure": "in\x1bflate",
                    "address": "0x50d", "kind": "indirect-jump",
                    "callee_image": "prog", "callee": "fn_2000",
                    "callee_address": "0x2000", "count": 3},
         "%s: a call site" % form)
    same(sites[6], {"image": "prog", "procedure": "odd", "address": "0x5000",
                    "kind": "indirect-call", "callee_image": None,
                    "callee": None, "callee_address": None,
                    "callee_unknown": "pairs were not measured", "count": 2},
         "%s: an unknown callee" % form)
    same([(r["kind"], r["count"]) for r in rows if r["procedure"] == "dark"],
         [("entry", None), ("return", None)], "%s: unknown edges" % form)
    libz, prog = parsed("report", "--by", "image", "--json", profile)
    same(prog, {
        "image": "prog", "path": "/opt/app/prog", "instructions": 36,
        "complete": False, "counters": 9, "increments": 17,
        "redundant_increments": 17, "text_bytes": 200, "moved_bytes": 160,
        "unknown_procedures": 1, "not_measured": [
            {"reason": "a linker stub", "bytes": 24},
            {"reason": "not proved to be code", "bytes": 16}],
        "troubles": []}, "%s: images as JSON" % form)
    same((libz["redundant_increments"], libz["complete"]),
         (2000000010, True), "%s: what a counter per block costs" % form)
    same(parsed("report", "--by", "process", "--json", profile), [
        {"number": 1, "pid": 5000101, "parent": None, "name": "prog",
         "origin": "started", "instructions": 5000000046, "complete": False,
         "killed": False, "troubles": []},
        {"number": 2, "pid": 5000102, "parent": 1, "name": "prog",
         "origin": "forked", "instructions": 10, "complete": False,
         "killed": False, "troubles": []}], "%s: processes as JSON" % form)
    same(parsed("report", "--by", "block", "--limit", "1", "--json", profile),
         [{"image": "libz.so.1", "procedure": "in\x1bflate",
           "start": "0x500", "end": "0x509", "instructions": 3,
           "count": 1000000005}], "%s: blocks as JSON" % form)
    same(parsed("report", "--by", "instruction", "--json", profile)[5],
         {"image": "prog", "procedure": "main", "address": "0x100c",
          "count": 9}, "%s: instructions as JSON" % form)


def exports(profile, form):
    same(tally("export", "--format", "tsv", profile), (0, TSV, UNKNOWN),
         "%s: tsv" % form)
    whole = parsed("export", "--format=json", profile)
    same((whole["command"], whole["options"], whole["finished"]),
         ("prog -x", "placement=edges", form == "finished"),
         "%s: json: the run" % form)
    prog = whole["images"][1]
    same((prog["build_id"], prog["instructions"], len(prog["in_place"])),
         ("abcd", 36, 3), "%s: json: an image" % form)
    main = prog["procedures"][0]
    same([(b["start"], b["end"], b["instructions"], b["count"])
          for b in main["blocks"]],
         [("0x1000", "0x100c", 3, 2), ("0x100c", "0x1014", 2, 9),
          ("0x1014", "0x1018", 1, 2)], "%s: json: blocks" % form)
    same([e["count"] for e in main["edges"]], [2, 2, 2, 7, 2, 2],
         "%s: json: edges" % form)
    same([p["procedure"] for p in prog["procedures"]],
         ["main", "fn_2000", "dark", "odd"], "%s: json: procedures" % form)


def not_exact(where):
    profile = make(where, "trouble", "contradiction")
    status, out, err = tally("report", profile)
    same((status, "unknown                 unknown  prog       odd" in out), (0, True),
         "counters that contradict each other tell nothing")
    same(err, "tally: there was no room on disk: some counts are lost\n"
         "tally: a child process could not get counters: its counts are lost\n"
         "tally: counts of 2 procedures are not known in prog\n",
         "what went wrong is told")
    same("0x5000" in tally("export", "--format", "tsv", profile)[1], False,
         "no count is invented")
    for by in ("image", "process"):
        rows = parsed("report", "--json", "--by", by, profile)
        same([len(r["troubles"]) for r in rows], [2, 2],
             "--by %s --json tells it, too" % by)
    profile = make(where, "lost")
    status, out, err = tally("report", profile)
    same((status, "main" in out, "libz" in out), (0, True, False),
         "without a map the others are told")
    tap.ok(re.search(r"nothing can be told of libz: .*/libz: No such file",
                     err), "and why the one is not", [err])
    rows = parsed("report", "--json", "--by", "image", profile)
    same([(r["image"], r["instructions"], r["path"], r["complete"])
          for r in rows], [("prog", 36, "/opt/app/prog", False),
                           ("libz", None, None, False)],
         "an image without a map is listed as unknown")
    status, out, err = tally("snapshot", profile)
    same((status, err.count("\n"), "libz: No such" in err), (3, 1, True),
         "what cannot be told is not frozen")


def lefts(where):
    """Images that ran uncounted: rows of their own, live and finished."""
    live, after = make(where, "left"), os.path.join(where, "l")
    same(tally("snapshot", live, "-o", after)[0], 0, "left: a snapshot")
    want = [("libz.so.1", 5000000036, False), ("prog", 36, False),
            ("static", None, "it is odd"),
            ("lib\x1bc.so", None, "left out by --libs"),
            ("liblater.so", None, "a reason that this tally does not know")]
    for profile in (live, after, "merge"):
        if profile == "merge":
            profile = os.path.join(where, "m")
            same(tally("merge", "-o", profile, live, after)[0], 0,
                 "left: merged")
        rows = parsed("report", "--json", "--by", "image", profile)
        same({r["image"]: r.get("unknown", r["complete"]) for r in rows},
             {name: why for name, _, why in want}, "left: rows")
        same([r.get("left") for r in rows][:1],
             ["it could not be rewritten when it was loaded"],
             "left: counted in one process only")
        same([r["complete"] for r in parsed(
            "report", "--json", "--by", "process", profile)][:2],
            [False, False], "left: processes")
    status, out, err = tally("report", "--by", "image", after)
    same([l.split()[-1] for l in out.splitlines() if "unknown" in l],
         ["static", "lib%1bc.so", "liblater.so"], "left: text")
    same(err.splitlines()[:3], [
        "tally: nothing of liblater.so is measured: a reason that this tally "
        "does not know", "tally: nothing of static is measured: it is odd",
        "tally: libz.so.1: not measured in all processes: it could not be "
        "rewritten when it was loaded"], "left: messages")
    same([r["image"] for r in parsed("report", "--json", "--by", "image",
                                     "--image", "static", after)], ["static"],
         "left: --image")
    same([(m["image"], m["unknown"]) for m in parsed(
        "export", "--format", "json", after)["images"] if "unknown" in m],
        [(n, w) for n, c, w in want if c is None], "left: export json")


def snapshots(where):
    profile = make(where)
    first, second, phase = (os.path.join(where, n) for n in "abc")
    same(tally("snapshot", profile, "-o", first), (0, "", ""), "snapshot")
    make(where, "more")
    same(tally("snapshot", profile, "-o", second)[0], 0, "a later one")
    same(tally("snapshot", profile, "--minus", first, "-o", phase)[0], 0,
         "--minus")
    same(parsed("report", "--json", phase), [
        {"image": "prog", "procedure": "main", "entry": "0x1000", "calls": 0,
         "instructions": 20},
        {"image": "prog", "procedure": "dark", "entry": "0x3000",
         "calls": None, "instructions": None,
         "unknown": "an indirect jump"}], "only what ran since then")
    status, out, err = tally("snapshot", first, "--minus", second, "-o",
                             phase)
    same((status, "not an earlier state of this run" in err), (3, True),
         "time does not run backwards")
    status, out, err = tally("snapshot", profile, "-o", profile)
    same((status, "cannot take the place" in err), (2, True),
         "the profile itself is not replaced")
    same(tally("snapshot", profile)[0], 0, "a name of its own")
    tap.ok(os.path.exists(profile + ".snapshot"), "PROFILE.snapshot")
    status, out, err = tally("snapshot", profile, "-o", "/nowhere/x")
    same((status, err), (4, "tally: /nowhere/x: cannot write it: No such file "
                         "or directory\n"), "where nothing can be written")


def usage(profile):
    for words in ((), ("report",), ("report", "--by", "colour", profile),
                  ("report", "--limit", "-1", profile), ("export", profile),
                  ("report", "--wrong"),
                  ("export", "--format", "xml", profile), ("snapshot",),
                  ("snapshot", profile, "-o", ""), ("export", "--format"),
                  ("report", "--"), ("export", "--format", "tsv", "--")):
        status, out, err = tally(*words)
        same((status, out, bool(err)), (2, "", True),
             "usage: %s" % " ".join(words).replace(profile, "PROFILE"))
    for command in ("report", "export", "snapshot"):
        status, out, err = tally(command, "--help")
        same((status, out.startswith("usage: tally " + command), err),
             (0, True, ""), "%s --help" % command)
    same(tally("report", "--", profile)[0], 0, "-- ends the options")


def refused(path, name, pattern="."):
    for words in (("report",), ("export", "--format", "tsv"), ("snapshot",)):
        status, out, err = tally(*words, path)
        tap.ok(status == 3 and not out and err.count("\n") == 1 and
               err.startswith("tally: " + path) and re.search(pattern, err),
               "%s: %s" % (words[0], name), ["status %d" % status, err])


def put(data, offset, form, *values):
    b = bytearray(data)
    struct.pack_into("<" + form, b, offset, *values)
    return bytes(b)


def chunks(data):
    return [at for at in range(65536, len(data), 4096)
            if data[at:at + 8] == b"tlychnk1"]


def hostile(where, live, finished):
    """Files that somebody meant harm with, and what is said of them."""
    victim = os.path.join(where, "victim")

    def write(data):
        with open(victim, "wb") as f:
            f.write(data)

    refused("/nowhere/profile", "no such file", "No such file")
    refused(where, "a folder", "not a regular file")
    refused(TALLY, "a program", "not a profile")
    at = chunks(live)[1]
    for name, data, say in (
            ("an empty file", b"", "not a profile"),
            ("version 9", put(live, 8, "I", 9), "version 9"),
            ("form 7", put(live, 14, "H", 7), "form 7"),
            ("cut inside the header", live[:40], "offset 0x"),
            ("cut inside a chunk", live[:74000], "offset 0x11000"),
            ("no room for chunks", put(live, 16, "Q", 5), "offset 0x10"),
            ("endless options", put(live, 48, "I", 2 ** 32 - 1), "offset"),
            ("a chunk of 0 bytes", put(live, at + 16, "Q", 0), "%x" % at),
            ("a huge chunk", put(live, at + 16, "Q", 2 ** 63), "%x" % at),
            ("a chunk elsewhere", put(live, at + 8, "Q", 0), "%x" % at),
            ("a chunk of kind 9", put(live, at + 24, "I", 9), "%x" % at),
            ("process 0", put(live, at + 28, "I", 0), "%x" % at),
            ("2^61 counters", put(live, at + 48, "Q", 2 ** 61), "%x" % at),
            ("counters outside", put(live, at + 56, "Q", 2 ** 63), "%x" % at),
            ("a long path", put(live, at + 68, "I", 2 ** 31), "%x" % at),
            ("counters over 64 bits",
             put(live, at + 4096, "QQ", 2 ** 64 - 1, 1), "64 bits"),
            ("a finished one, cut", finished[:-9], "offset"),
            ("a finished one, and more", finished + b"x", "end here"),
            ("a finished one, changed", put(finished, 40, "B", 3),
             "checksum")):
        write(data)
        refused(victim, name, say)
    write(put(live, 16, "Q", 2 ** 62))
    status, out, err = tally("report", victim)
    same((status, out, err.splitlines()[0]), (0, PROCEDURES, "tally: the "
         "profile is shorter than it says: some counts may be missing"),
         "a file that is shorter than it says")
    rng, bad, read = random.Random(5), [], 0
    for i in range(MUTANTS):
        data = bytearray(rng.choice((live, finished)))
        spots = [0] + (chunks(data) if len(data) > 65536 else [100, 300])
        for _ in range(rng.randint(1, 4)):
            spot = rng.choice(spots) + 4 * rng.randint(0, 24)
            struct.pack_into("<I", data, min(spot, len(data) - 4), rng.choice(
                (0, 1, 2 ** 31, 2 ** 32 - 1, rng.getrandbits(32))))
        write(bytes(data[:rng.choice((len(data), rng.randint(0, len(data))))]))
        for words in (("report", "--by", "process"), ("report", "--json"),
                      ("snapshot", "-o", os.path.join(where, "out"))):
            status, out, err = tally(*words, victim)
            read += status == 0
            if status not in (0, 3) or (status and err.count("\n") != 1):
                bad.append("mutant %d: status %d %s" % (i, status, err))
    tap.none(bad, "%d mutants do no harm (- %d are read)" % (MUTANTS, read))


def running(where):
    profile = make(where, "running", str(os.getpid()))
    status, out, err = tally("report", profile)
    same((status, err.splitlines()[0]), (0, "tally: the program was still "
         "running: counts inside procedures at work may be off by one"),
         "a program that runs is in the middle of something")
    frozen = os.path.join(where, "frozen")
    tally("snapshot", profile, "-o", frozen)
    same(tally("report", frozen), (status, out, err),
         "a snapshot says so for ever")


def growing(where):
    """Read while it grows: what was there is told."""
    profile = make(where, "wide", "20000")
    data = open(profile, "rb").read()
    status, out, err = tally("report", "--by", "image", "--json", profile)
    same((status, json.loads(out)[1]["instructions"]), (0, 36 - 10 + 20000),
         "many procedures")
    with open(profile, "ab") as f:
        f.write(b"\0" * 100000)
    same(tally("report", "--by", "image", "--json", profile)[1], out,
         "room that was just taken")


with tempfile.TemporaryDirectory() as where:
    live = make(where)
    frozen = os.path.join(where, "frozen")
    tap.ok(tally("snapshot", live, "-o", frozen)[0] == 0, "it is frozen")
    for profile, form in ((live, "live"), (frozen, "finished")):
        texts(profile, form)
        machine_readable(profile, form)
        exports(profile, form)
    usage(live)
    hostile(where, open(live, "rb").read(), open(frozen, "rb").read())
    not_exact(where)
    lefts(where)
    snapshots(where)
    running(where)
    growing(where)
tap.done()
