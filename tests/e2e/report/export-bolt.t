#!/usr/bin/env python3
"""
export-bolt: what `tally export --format bolt` says of a program's branches is
what happened, and BOLT takes it.

qemu, or single steps of the machine itself, saw which instruction followed
which: as often as each record says, and no direct branch or call is missing.
BOLT reads all of it, finds none of it stale, and what it makes of the program
does the same. Functions of which not all is known, as indirect jumps are not
without --calls, are left out altogether. On the machine itself BOLT's own
counters tell the same, function by function under the names that BOLT gives
them.
"""
import bisect
import json
import re
import sys

sys.path.insert(0, "tests/lib")
import count_run
from count_run import *

tap = Tap()
BOLT = shutil.which("llvm-bolt-22") or shutil.which("llvm-bolt")
BRANCHES = ["../branches.c", "../branches2.c"]
# BOLT breaks two without any profile, too; the other tells of addresses
BROKEN = ["flow.c", "edges.cc", "labels.c"]
# name, sources, compiler, whether exceptions come out of the unwinder: then
# flow has more than branches
CASES = [
    ("branches", BRANCHES, "gcc", False),
    ("branches-clang", BRANCHES, "clang", False),
    ("flow", ["flow.c"], "gcc", False),
    ("labels", ["labels.c"], "gcc", False),
    ("leave", ["../count/leave.cc"], "g++", True),
    ("edges", ["edges.cc", "edges-%s.S"], "g++", True),
]


def bolt(*words):
    """(status, what it says)"""
    p = subprocess.run([BOLT, *words], stdout=subprocess.PIPE,
                       stderr=subprocess.STDOUT, text=True)
    return p.returncode, p.stdout


def read(file):
    """{(from, to): count}; a place is (name, distance), or None: elsewhere"""
    out = {}
    for line in open(file):
        w = re.match(r"([01]) (\S+) ([0-9a-f]+) ([01]) (\S+) ([0-9a-f]+) 0 "
                     r"(\d+)$", line)
        if not w:
            raise Failed("a line that is none: " + line)
        a, b = ((w[i + 1], int(w[i + 2], 16)) if w[i] == "1" else None
                for i in (1, 4))
        out[a, b] = out.get((a, b), 0) + int(w[7])
    return out


def functions(exe):
    """{name: address}: local ones are numbered as they lie in the file"""
    out, used = {}, collections.Counter()
    text = run(tool(count_run.ISA, "nm"), "-n", "--defined-only", exe)
    for at, stub in re.findall(r"^0*([0-9a-f]+) <(\S+)@plt>:",
                               run(tool(count_run.ISA, "objdump"), "-d", exe),
                               re.M):
        out[stub + "@PLT"] = int(at, 16)
    for line in text.splitlines():
        address, kind, name = line.split(" ", 2)
        if kind.islower() and kind not in "wvi":
            used[name] += 1
            name = "%s/%d" % (name, used[name])
        out[name] = int(address, 16)
    return out


def disassembled(exe):
    """
    {address: (whether it jumps or calls directly, whether it jumps through a
    register or memory, address of the next)}
    """
    text = run(tool(count_run.ISA, "objdump"), "-d", "-w",
               "--no-show-raw-insn", exe)
    rows = re.findall(r"^ +([0-9a-f]+):\t(?:bnd |notrack )?(\S+ *\S*)", text,
                      re.M)
    at = [int(a, 16) for a, _ in rows] + [0]
    return {a: (bool(DIRECT.match(op)), bool(INDIRECT.match(op)), after)
            for a, (_, op), after in zip(at, rows, at[1:])}


# with operands: what is written *%rax is indirect
INDIRECT = re.compile(r"jmp\s+\*|br\s")
DIRECT = re.compile(r"(j\w+|call|b|bl|b\.\w+|cbn?z|tbn?z)\s+[^*\s]")


def flow(here, exe):
    """{(from, to): count} of transfers inside the program"""
    out = collections.Counter()
    for image, a, to, b, n in rows(here, "flow"):
        if image == to == exe:
            out[a, b] += n
    return out


def judge(records, seen, ran, where_is, code, whole):
    """
    Complaints about records that say other things than were seen; whole: of no
    function are there none.
    """
    bad, said = [], set()
    of = sorted((a, f) for f, a in where_is.items())
    told_of = {p[0] for pair in records for p in pair if p}
    for (a, b), n in records.items():
        if not a or not b:
            continue
        pair = (where_is[a[0]] + a[1], where_is[b[0]] + b[1])
        said.add(pair)
        after = code[pair[0]][2]
        # what falls is no transfer, and what follows a call came by a return
        want = seen[pair] or (ran[pair[0]] if pair[1] == after else 0)
        if want != n:
            bad.append("%s to %s: %d, want %d" % (a, b, n, want))
    for (a, b), n in seen.items():
        direct, indirect, after = code.get(a, (False, False, 0))
        name, to = (of[bisect.bisect(of, (x, "~")) - 1][1] for x in (a, b))
        if (direct and b != after or indirect and (whole or name == to)) and \
                (a, b) not in said and a in ran and b in ran and \
                (whole or {name, to} <= told_of):
            bad.append("%#x to %#x: %d times, not told" % (a, b, n))
    return bad


def entries(records, where_is, profile, name):
    """Every function was called as often as records lead to its start."""
    calls = collections.Counter()
    for (a, b), n in records.items():
        if b and b[1] == 0:
            calls[where_is[b[0]]] += n
    rows = json.loads(run(TALLY, "report", "--by", "procedure", "--json",
                          "--image", name, profile))
    known = {int(r["entry"], 16): r["calls"] for r in rows}
    bad = ["%#x: %d calls, want %s" % (at, n, known.get(at))
           for at, n in calls.items() if at in known and n != known[at]]
    return bad if len(calls) > 7 else ["too few are called"]


def partial(records, where_is, profile, exe, here):
    """No function is told of in which something is not known."""
    spots = [int(b["start"], 16) for b in json.loads(
        run(TALLY, "report", "--by", "block", "--all", "--json", "--image",
            os.path.basename(exe), profile)) if b["count"] is None]
    spots += [int(r["start"], 16) for r in json.loads(
        run(TALLY, "instrument", "--json", exe, "-o", here + "/copy"))
        ["in_place"]]
    stubs = [(int(a, 16), int(a, 16) + int(n, 16)) for a, n in re.findall(
        r" \.plt\S* +PROGBITS +(\w+) \w+ (\w+)",
        run(tool(count_run.ISA, "readelf"), "-SW", exe))]
    spots = [a for a in spots if not any(s <= a < e for s, e in stubs)]
    of = sorted((a, f) for f, a in where_is.items())
    names = {of[bisect.bisect(of, (a, "~")) - 1][1] for a in spots}
    told_of = {p[0] for pair in records for p in pair if p}
    return ["%s is told of" % f for f in names & told_of], names


MOVES = ["-reorder-functions=cdsort", "-split-functions"]


def optimized(here, exe, data, want, *options):
    """Complaints about what BOLT makes of it, which does what is wanted."""
    out = here + "/bolted"
    status, said = bolt(exe, "-o", out, "-data", data,
                        "-reorder-blocks=ext-tsp", *options)
    found = re.search(r"(\d+) out of \d+ functions .* non-empty", said)
    others = re.search(r"(\d+) functions with profile could not be", said)
    lines = [l for l in said.splitlines()
             if re.search("stale|invalid|ERROR", l)]
    if status or not found or lines:
        return lines or said.splitlines()[-5:]
    names = {p[0] for pair in read(data) for p in pair
             if p and not p[0].endswith("@PLT")}
    n = int(found[1]) + (int(others[1]) if others else 0)
    bad = [] if n == len(names) else ["%d functions, want %d" % (n, len(names))]
    if not want:
        return bad
    return bad + differences(want, quiet(
        [*emulator(count_run.ISA), out], here)[:2])


def as_bolt_counts(here, exe, records):
    """
    On the machine itself: BOLT's own counters say the same, but for the call of
    abort() behind __libc_start_main(), which never comes back: BOLT derives
    that it did.
    """
    copy, data = here + "/own", here + "/own.fdata"
    status, said = bolt(exe, "-instrument", "-o", copy,
                        "-instrumentation-file=" + data)
    if status:
        return said.splitlines()[-5:]
    quiet([copy], here)
    own = read(data)
    return ["%s: %d, BOLT says %d" % (pair, records.get(pair, 0), n)
            for pair, n in own.items() if pair[0] and pair[1] and
            records.get(pair) != n and pair[1][0] != "abort@PLT"] + \
        ([] if len(own) > 20 else ["BOLT says nothing"])


def attempt(name, sources, cc, throws):
    here = room(name)
    exe = build(here, name, sources, "-O2", "-Wl,-q", *TABLES if cc != "clang"
                else (), cc=cc)
    want = original(here, exe, [], "qemu-flow")
    where_is, code = functions(exe), disassembled(exe)
    result = []
    for option in ([], ["--calls"]):
        profile = tally_count(here, exe, [], name, *option)[3]
        data = "%s/%s.fdata" % (here, "".join(option))
        with open(data, "w") as f:
            f.write(run(TALLY, "export", "--format", "bolt", profile))
        records = read(data)
        what = "%d records%s" % (len(records), " with " + option[0] if option
                                 else "")
        if not throws:
            ran = told(profile)[name]
            result.append((what, judge(records, flow(here, exe), ran,
                                       where_is, code, option)))
        if name != "edges":  # some have two entries
            result.append((what + ": calls", entries(records, where_is,
                                                     profile, name)))
        bad, names = partial(records, where_is, profile, exe, here)
        if name == "edges" and "edges_swap" not in names:
            bad.append("a swap is known")
        result.append((what + ": nothing in part", bad))
        result.append((what + ": BOLT takes them",
                       optimized(here, exe, data,
                                 None if sources[0] in BROKEN else want,
                                 *MOVES)))
    if count_run.ISA == MACHINE and sources == BRANCHES:
        result.append(("as BOLT counts", as_bolt_counts(here, exe, records)))
    return result


def library(name):
    """Of an image that is not the program, though both have names alike."""
    here = room(name)
    lib = here + "/libsteps.so"
    run(*compiler(count_run.ISA, "gcc"), "-O2", "-fPIC", "-shared", "-Wl,-q",
        "-o", lib, *paths(BRANCHES[1:]))
    exe = build(here, name, BRANCHES[:1], "-O2", "-Wl,-q", "-L" + here,
                "-Wl,-rpath," + here, "-Wl,--no-as-needed", "-lsteps")
    profile = tally_count(here, exe, [], name)[3]
    data, bad = here + "/lib.fdata", []
    with open(data, "w") as f:
        f.write(run(TALLY, "export", "--format", "bolt", "--image",
                    "libsteps.so", profile))
    names = {p[0] for pair in read(data) for p in pair if p}
    if not {"walk", "step/1"} < names or "choose/1" in names:
        bad.append("functions are %s" % names)
    status, said = bolt(lib, "-o", here + "/new.so", "-data", data,
                        "-reorder-blocks=ext-tsp")
    bad += [l for l in said.splitlines() if re.search("stale|ERROR", l)]
    return [("is told of alone", bad if not status else bad + [said[-300:]])]


def stripped(name):
    """Without symbols and relocations, as programs are shipped."""
    here = room(name)
    exe = build(here, name, BRANCHES, "-O2", "-s")
    want = original(here, exe, [], "qemu-flow")
    profile = tally_count(here, exe, [], name, "--calls")[3]
    data = here + "/data"
    with open(data, "w") as f:
        f.write(run(TALLY, "export", "--format", "bolt", profile))
    records = read(data)
    where_is = functions(exe)
    where_is.update((p[0], int(p[0].split("at")[1], 16)) for pair in records
                    for p in pair if p and p[0].startswith("__BOLT_FDE_FUNC"))
    # only what has an unwind table is a function there
    tables = [(int(a, 16), int(b, 16)) for a, b in re.findall(
        r"FDE .* pc=(\w+)\.\.(\w+)", run(
            tool(count_run.ISA, "readelf"), "--debug-dump=frames", exe))]
    ran = {a: n for a, n in told(profile)[name].items()
           if any(s <= a < e for s, e in tables)}
    return [("%d records" % len(records), judge(
                records, flow(here, exe), ran, where_is, disassembled(exe),
                True)),
            ("BOLT takes them", optimized(here, exe, data, want,
                                          "--allow-stripped"))]


def refused(name):
    here = room(name)
    exe = build(here, name, BRANCHES, "-O2", "-s")
    profile = tally_count(here, exe, [], name)[3]
    run(tool(count_run.ISA, "objcopy"), "-R", ".eh_frame", "-R",
        ".eh_frame_hdr", exe)
    bad = []
    for want, say, *words in (
            (3, "no symbols and no unwind tables", "bolt", profile),
            (3, "no image nowhere", "bolt", "--image", "nowhere", profile),
            (2, "formats of one image", "tsv", "--image", name, profile)):
        got, out, err = quiet([TALLY, "export", "--format", *words], here)
        if got != want or say not in err or out:
            bad.append("%s: %d %s" % (words, got, err))
    os.rename(exe, exe + ".old")
    got, out, err = quiet([TALLY, "export", "--format", "bolt", profile], here)
    if got != 3 or "No such file" not in err or out:
        bad.append("a file that is gone: %d %s" % (got, err))
    return [("what cannot be told", bad)]


def jobs():
    yield "library", library, "library"
    yield "stripped", stripped, "stripped"
    yield "refused", refused, "refused"
    for case in CASES:
        if all(map(os.path.exists, paths(case[1]))):
            yield case[0], attempt, *case


test_all(tap, jobs, "qemu-flow")
