#!/usr/bin/env python3
"""
export-pprof: pprof reads what `tally export --format pprof` writes: every
instruction that ran, in all images, with the count that `--format tsv` has;
procedures with their instructions and calls as `tally report` says; functions,
lines and inlined calls as LLVM finds them; files with their build-ids and where
their code lies. It finds the file's instructions by these. A stripped program
has addresses, what is not known is left out, and nothing at all is no error.
"""
import gzip
import json
import re
import sys

sys.path.insert(0, "tests/lib")
import count_run
from count_run import *

tap = Tap()


def pprof(here, file, *words):
    return run("go", "tool", "pprof", "-symbolize=none", *words, file,
               env=environment(here, PPROF_TMPDIR=here), cwd=here)


def export(here, profile, name):
    file = "%s/%s.pb.gz" % (here, name)
    with open(file, "wb") as f:
        subprocess.run([TALLY, "export", "--format", "pprof", profile],
                       stdout=f, stderr=subprocess.DEVNULL, check=True)
    return file


def top(here, file, index):
    """{function: value}, without what is inlined"""
    text = pprof(here, file, "-top", "-noinlines", "-nodefraction=0",
                 "-nodecount=1000000", "-sample_index=" + index)
    out = {}
    for line in text.split("flat%", 1)[1].splitlines()[1:]:
        w = line.split(None, 5)
        out[w[5]] = int(w[0])
    return {f: n for f, n in out.items() if n}


class Raw:
    """What -raw shows: all of it."""

    def __init__(self, text):
        head, text = text.split("Samples:\n")
        samples, text = text.split("Locations\n")
        locations, mappings = text.split("Mappings\n")
        self.comments = re.findall(r"^Comment: (.*)$", head, re.M)
        self.types, *rows = samples.splitlines()
        self.mapping = {}
        for line in mappings.splitlines():
            w = re.match(r"(\d+): 0x(\w+)/0x(\w+)/0x(\w+) (\S+) (\w*) ?(.*)",
                         line)
            self.mapping[w[1]] = (w[5], *(int(x, 16) for x in w.groups()[1:4]),
                                  w[6], w[7])
        self.read_locations(locations)
        self.samples = [(self.location[at], [int(x) for x in values.split()])
                        for values, at in (r.split(":") for r in rows)
                        for at in [at.strip()]]

    def read_locations(self, text):
        """{id: (mapping, address, [(function, file, line)])}"""
        self.location = {}
        for line in text.splitlines():
            w = re.match(r" *(\d+): 0x(\w+) M=(\d+) (.*)", line)
            if w:
                last = (w[3], int(w[2], 16), [])
                self.location[w[1]] = last
                line = w[4]
            f = re.match(r" *(.*) (\S*):(\d+) s=(\d+)(\(.*)?$", line)
            last[2].append((f[1], f[2], int(f[3])))

    def instructions(self):
        """{image: {address: count}}"""
        out = collections.defaultdict(collections.Counter)
        for (mapping, address, _), values in self.samples:
            if values[0]:
                out[os.path.basename(self.mapping[mapping][0])][address] += \
                    values[0]
        return {image: dict(c) for image, c in out.items()}


def by_name(profile, key):
    """{procedure: number} of all that ran"""
    out = collections.Counter()
    for r in json.loads(run(TALLY, "report", "--by", "procedure", "--json",
                            profile)):
        out[r["procedure"]] += r[key] or 0
    return {f: n for f, n in out.items() if n}


def where_code_is(exe):
    """(build-id, address, end, offset) of the file's code, in pages"""
    text = run(tool(count_run.ISA, "readelf"), "-lnW", exe)
    offset, start, size = (int(x, 16) for x in re.search(
        r"LOAD +(\S+) (\S+) \S+ \S+ (\S+) R E ", text).groups())
    return (re.search(r"Build ID: (\w+)", text)[1], start & -4096,
            (start + size + 4095) & -4096, offset & -4096)


def mapped(raw, exe):
    found = [m for m in raw.mapping.values() if m[0] == exe]
    build, start, end, offset = where_code_is(exe)
    want = (exe, start, end, offset, build, "[FN][FL][LN][IN]")
    bad = [] if found == [want] else ["%s, want %s" % (found, want)]
    if raw.mapping["1"][0] != exe:
        bad.append("the program is not the first")
    return bad


def frames(raw, exe):
    """Places are as LLVM finds them."""
    mine = {a: f for (m, a, f), values in raw.samples
            if raw.mapping[m][0] == exe and values[0]}
    text = subprocess.run(
        ["llvm-addr2line", "-aifC", "-e", exe], text=True, check=True,
        input="\n".join("%x" % a for a in mine), stdout=subprocess.PIPE).stdout
    want, at = {}, None
    for line in text.splitlines():
        if line.startswith("0x"):
            at = want.setdefault(int(line, 16), [])
        else:
            at.append(re.sub(r" \(discriminator.*", "", line))
    bad, inlined = [], 0
    for a, f in mine.items():
        w = list(zip(want[a][::2], want[a][1::2]))
        if not f[0][1]:
            continue # LLVM makes something of symbols
        inlined += len(f) > 1
        got = [(n, "%s:%d" % (file, line)) for n, file, line in f]
        # what is there itself it calls by its symbol
        if [p for _, p in got] != [p for _, p in w] or \
                [n for n, _ in got[:-1]] != [n for n, _ in w[:-1]]:
            bad.append("%#x: %s, want %s" % (a, got, w))
    return bad if inlined > 10 else bad + ["%d inlined" % inlined]


def disassembly(here, file, counts):
    """pprof finds the program's own instructions."""
    text = pprof(here, file, "-disasm=main")
    rows = re.findall(r"^ +(\d+) +\d+ +([0-9a-f]+): ", text, re.M)
    bad = ["%s: %s" % (a, n) for n, a in rows
           if counts.get(int(a, 16)) != int(n)]
    return bad if len(rows) > 10 else ["%d instructions" % len(rows)]


def whole(name):
    here = room(name)
    exe = build(here, name, ["../lines.cc"], "-O2", "-g", cc="g++")
    profile = tally_count(here, exe, [], name)[3]
    file = export(here, profile, name)
    raw = Raw(pprof(here, file, "-raw"))
    result = [
        ("types", [] if raw.types.startswith(
            "instructions/count[dflt] calls/count") else [raw.types]),
        ("instructions", [] if raw.instructions() == told(profile) else
         ["they are others"]),
        ("procedures", [] if top(here, file, "instructions") ==
         by_name(profile, "instructions") else ["they are others"]),
        ("calls", [] if top(here, file, "calls") == by_name(profile, "calls")
         else ["they are others"]),
        ("files", mapped(raw, exe)),
        ("lines and inlined calls", frames(raw, exe)),
        ("comments", [] if exe in raw.comments else raw.comments),
        ("always the same", [] if open(file, "rb").read() == open(
            export(here, profile, "again"), "rb").read() else ["it is not"]),
    ]
    if count_run.ISA == MACHINE:
        result.append(("disassembly", disassembly(
            here, file, told(profile)[name])))
    return result


def bare(name):
    """Without names and lines there are addresses."""
    here = room(name)
    exe = build(here, name, ["flow.c"], "-O2", "-s")
    profile = tally_count(here, exe, [], name)[3]
    file = export(here, profile, name)
    raw = Raw(pprof(here, file, "-raw"))
    names = {f[-1][0] for m, _, f in raw.location.values()
             if raw.mapping[m][0] == exe}
    return [("instructions", [] if raw.instructions() == told(profile) else
             ["they are others"]),
            ("names", [n for n in names
                       if not re.match("fn_|_init$|_fini$|.*@plt$", n)])]


def moved_away(name):
    """The file has gone: the profile tells what it knows."""
    here = room(name)
    exe = build(here, name, ["flow.c"], "-O2", "-g")
    profile = tally_count(here, exe, [], name)[3]
    os.rename(exe, exe + ".old")
    file = export(here, profile, name)
    raw = Raw(pprof(here, file, "-raw"))
    got = [m for m in raw.mapping.values() if m[0] == exe]
    return [("instructions", [] if raw.instructions() == told(profile) else
             ["they are others"]),
            ("files", [] if got == [(exe, 0, 0, 0, where_code_is(
                exe + ".old")[0], "[FN]")] else ["%s" % got])]


def nothing(name):
    """A profile in which nothing ran."""
    here = room(name)
    exe = build(here, name, ["flow.c"], "-O2")
    profile = tally_count(here, exe, [], name)[3]
    run(TALLY, "snapshot", profile, "--minus", profile, "-o", here + "/none",
        cwd=here)
    file = export(here, here + "/none", name)
    data = gzip.open(file).read()
    raw = Raw(pprof(here, file, "-raw"))
    return [("it is one", [] if data and not raw.samples and raw.mapping else
             ["%d samples" % len(raw.samples)])]


def unknown(name):
    """Of what is not known there is no sample, and a comment says so."""
    here = room(name)
    exe = build(here, name, ["edges.cc", "edges-%s.S"], "-O2", *TABLES,
                cc="g++")
    profile = tally_count(here, exe, [], name)[3]
    raw = Raw(pprof(here, export(here, profile, name), "-raw"))
    blocks = [(int(b["start"], 16), int(b["end"], 16)) for b in json.loads(
        run(TALLY, "report", "--by", "block", "--json", "--image", name,
            profile)) if b["count"] is None]
    bad = [hex(a) for a in raw.instructions()[name]
           if any(s <= a < e for s, e in blocks)]
    if not [c for c in raw.comments if c.startswith(name + ": counts of ")]:
        bad.append("no comment: %s" % raw.comments)
    return [("left out", bad if blocks else ["all is known"])]


def jobs():
    yield "whole", whole, "whole"
    yield "bare", bare, "bare"
    yield "moved-away", moved_away, "moved-away"
    yield "nothing", nothing, "nothing"
    if count_run.ISA == "aarch64": # code in which no counter may be
        yield "unknown", unknown, "unknown"


test_all(tap, jobs)
