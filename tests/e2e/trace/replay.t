#!/usr/bin/env python3
"""
trace/replay: all that `tally replay` writes of one trace tells the same: lines,
JSON, ranges of instructions, threads one by one and interleaved, formats of
simulators, the library for them; calls nest and are as many as were made. Of a
program for either machine.
"""
import json
import re
import struct
import sys
import tempfile
import xml.etree.ElementTree as ET

sys.path.insert(0, "tests/lib")
import count_run
from answers import *
from cfg_oracle import Failed
from rewrite_run import ISAS

THREADS = 3
FIB = {11: 287, 12: 465, 14: 1219} # calls of fib(n)
RECORD = struct.Struct("<QBB2B4B6Q")
ENTRY = struct.Struct("<HHQ")
# of drmemtrace
INSN, COND, RETURN, THREAD, EXIT, PID, HEADER, FOOTER, MARKER = (
    10, 13, 16, 22, 23, 24, 25, 26, 28)
REPLAY_LIBRARY = os.path.join(os.path.dirname(TALLY), "replay")


class Replays(Asker):
    def build(self, name, *flags):
        run(*compiler(count_run.ISA, "gcc"), "-O1", "-g", "-pthread", *flags,
            "-o", self.path(name),
            os.path.abspath("tests/progs/trace/calls.c"))

    def trace(self, file, *words):
        status, out, err = self.tally(
            "trace", "-o", file, "--", *words,
            env={**os.environ, "XDG_CACHE_HOME": self.where,
                 "QEMU_LD_PREFIX": "/usr/%s-linux-gnu" % count_run.ISA})
        self.same((status, out), (0, "89\n"), "%s: traced" % file)
        return file

    def replay(self, *words):
        """Its output, as bytes."""
        p = subprocess.run([TALLY, "replay", *words], cwd=self.where,
                           stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                           timeout=PATIENCE)
        if p.returncode or p.stderr:
            raise Failed("replay %s: %s %s" % (words, p.returncode,
                                               p.stderr.decode()))
        return p.stdout

    def lines(self, *words):
        return self.replay(*words).decode().splitlines()

    def objects(self, *words):
        return [json.loads(l) for l in self.lines("--json", *words)]


def by_thread(lines):
    """{(process, thread): lines}, without those that say which it is"""
    out, at = {}, None
    for l in lines:
        m = re.fullmatch(r"# process (\d+) thread (\d+)", l)
        if m:
            at = out.setdefault(tuple(map(int, m.groups())), [])
        else:
            at.append(l)
    return out


def code(lines):
    return [l for l in lines if not l.startswith("#")]


def check_holds(t, file):
    holds = t.parsed("replay", "--json", file)
    t.same([x["thread"] for x in holds["threads"]], list(range(THREADS)),
           "a row for each thread")
    t.ok(all(x["end"] == "complete" and x["parts"] and x["bytes"] and
             x["name"].endswith("/calls") for x in holds["threads"]),
         "which are whole", [str(holds)])
    insns = by_thread(t.lines("--as", "insns", file))
    blocks = by_thread(t.lines("--as", "blocks", file))
    t.same([x["instructions"] for x in holds["threads"]],
           [len(code(insns[x["process"], x["thread"]]))
            for x in holds["threads"]], "with so many instructions")
    for x in holds["threads"]:
        lines = blocks[x["process"], x["thread"]]
        t.ok(0 < x["branches"] < len(code(lines)) and not x["lost"] and
             x["gaps"] == len([l for l in lines if l.startswith("# gap")]),
             "branches, fewer than blocks, and gaps", [str(x)])
    t.same((holds["notes"]["command"], holds["complete"], holds["last"]),
           ("./calls", True, False), "notes")
    table = t.lines(file)
    t.ok("command: ./calls" in table and
         len([l for l in table if l.endswith("/calls") and
              " complete " in l]) == THREADS, "and as a table", table)


def check_lines(t, file):
    """Blocks, and JSON, tell the instructions."""
    insns = t.lines("--as", "insns", file)
    objects = t.objects("--as", "insns", file)
    told = [x for x in objects if "kind" not in x]
    t.same(["%s\t%s" % (x["image"], x["address"]) for x in told], code(insns),
           "insns: JSON, %d instructions" % len(told))
    t.same([l for l in insns if l.startswith("#")][0], "# process 1 thread 0",
           "threads are told")
    t.same([x["kind"] for x in objects if "kind" in x and
            x["kind"] != "gap"], ["thread", "end"] * THREADS, "and their ends")
    n, bad = -1, []
    for x in objects:
        if x.get("kind") == "thread":
            n = -1
        elif "number" in x:
            n += 1
            bad += ["%s: want %d" % (x, n)] if x["number"] != n else []
    t.none(bad[:5], "numbers are those of threads")
    at, blocks, bad = 0, code(t.lines("--as", "blocks", file)), []
    for l in blocks:
        image, address, n = l.split("\t")
        if code(insns[:0]) or told[at]["address"] != address or \
                told[at]["image"] != image:
            bad.append(l)
        at += int(n)
    t.none(bad[:5] + ([at] if at != len(told) else []),
           "%d blocks have these instructions" % len(blocks))
    return insns, told


def check_ranges(t, file, insns):
    first = code(by_thread(insns)[1, 0])
    bad = []
    for begin, n in (0, 1), (1, 5), (7, 100), (500, 3), (len(first) - 2, 9), \
            (len(first) + 5, 5), (3, 0):
        range_of = "--thread", "0", "--from", str(begin), "--count", str(n)
        got = code(t.lines("--as", "insns", *range_of, file))
        if got != first[begin:begin + n]:
            bad.append("%d, %d: %s" % (begin, n, got[:5]))
        parts = code(t.lines("--as", "blocks", *range_of, file))
        if sum(int(l.split("\t")[2]) for l in parts) != len(got) or \
                [l.rsplit("\t", 1)[0] for l in parts][:1] != got[:1]:
            bad.append("blocks %d, %d: %s" % (begin, n, parts[:5]))
    t.none(bad, "ranges of instructions")
    threads = by_thread(insns)
    bad = [k for k in threads if by_thread(t.lines(
        "--as", "insns", "--process", str(k[0]), "--thread", str(k[1]),
        file)) != {k: threads[k]}]
    t.none(bad, "one thread alone")
    t.same(by_thread(t.lines("--as", "insns", "--interleave", file)), threads,
           "interleaved: the same of each thread")


def check_simulators(t, file, told):
    """The addresses of the process, which are those of files and a base."""
    din = t.lines("--format", "din", file)
    at = [int(l.split()[1], 16) for l in din]
    bases = {}
    for x, pc in zip(told, at):
        bases.setdefault(x["image"], set()).add(pc - int(x["address"], 16))
    t.ok(len(at) == len(told) and all(l.startswith("2 ") for l in din) and
         all(len(b) == 1 and not min(b) & 4095 for b in bases.values()) and
         len(bases) > 1, "din: addresses of the process",
         [len(at), len(told), str(bases)[:300]])
    t.same(t.lines("--format", "lackey", file),
           ["I  %08x,%d" % (pc, x["size"]) for x, pc in zip(told, at)],
           "lackey")
    return at


def taken_wrong(records, told, at):
    """Branches whose flag does not fit what follows."""
    for i, (r, x) in enumerate(zip(records, told)):
        ends = i + 1 == len(told) or not told[i + 1]["number"]
        follows = not ends and at[i + 1] == at[i] + x["size"]
        if r[0] != at[i]:
            yield "%d: %x, want %x" % (i, r[0], at[i])
        if not r[1] and (r[2] or not (follows or ends)):
            # where code is not traced all is possible: system calls
            yield "%d: %s %s is no branch" % (i, x, r)


def check_champsim(t, file, told, at):
    records = list(RECORD.iter_unpack(t.replay("--format", "champsim", file)))
    t.same(len(records), len(told), "champsim: as many")
    t.none(list(taken_wrong(records, told, at))[:5], "champsim: branches")
    kinds = {(bool(r[1]), 26 in r[3:5], 6 in r[3:5], 25 in r[5:9],
              26 in r[5:9]) for r in records if r[1]}
    t.same(kinds, {
        (True, True, False, False, True),  # jump
        (True, True, False, True, True),   # condition
        (True, True, True, False, True),   # call
        (True, True, True, False, False),  # return
    }, "champsim: kinds of branches, by their registers")
    return [(r[0], r[1], r[2]) for r in records]


def check_drmemtrace(t, file, told, at):
    entries = list(ENTRY.iter_unpack(t.replay("--format", "drmemtrace",
                                              file)))
    insns = [e for e in entries if INSN <= e[0] <= RETURN]
    t.same([(e[1], e[2]) for e in insns],
           [(x["size"], pc) for x, pc in zip(told, at)], "drmemtrace: insns")
    t.same(([e[0] for e in entries[:5]], entries[-1][0],
            sum(e[0] == THREAD for e in entries),
            sum(e[0] == EXIT for e in entries)),
           ([HEADER, MARKER, MARKER, THREAD, PID], FOOTER, THREADS, THREADS),
           "drmemtrace: head, threads and foot")
    return [e[0] for e in insns]


def check_without_file(t, file, told, champsim, kinds):
    """What instructions are is known without their images, too."""
    os.rename(t.path("calls"), t.path("moved"))
    records = RECORD.iter_unpack(t.replay("--format", "champsim", file))
    t.same([(r[0], r[1], r[2]) for r in records], champsim,
           "champsim: the same branches without the file")
    got = [e[0] for e in ENTRY.iter_unpack(t.replay(
        "--format", "drmemtrace", file)) if INSN <= e[0] <= RETURN]
    t.none(["%s: %d, with the file %d" % (x, g, k) for x, g, k in
            zip(told, got, kinds) if g != k][:5],
           "drmemtrace: the same kinds")
    os.rename(t.path("moved"), t.path("calls"))


def check_vectors(t, file, told):
    vectors = [[tuple(map(int, p.split(":"))) for p in
                re.findall(r":(\d+:\d+) ", l)]
               for l in t.lines("--as", "bbv", "--interval", "1000",
                                "--thread", "0", file)]
    n = len([l for l in told]) # of all threads
    sums = [sum(c for _, c in v) for v in vectors]
    t.ok(set(sums[:-1]) == {1000} and 0 < sums[-1] <= 1000,
         "bbv: intervals of 1000", sums)
    t.ok(all(sorted(v) == v for v in vectors) and
         vectors[0][0][0] == 1, "bbv: blocks by number", vectors[0])
    whole = sum(sum(map(int, re.findall(r":\d+:(\d+) ", l)))
                for l in t.lines("--as", "bbv", file))
    t.same(whole, n, "bbv: all instructions")


def check_calls(t, file, insns):
    threads = by_thread(t.lines("--as", "calls", file))
    for key, want in ((1, 0), FIB[11]), ((1, 1), FIB[12]), ((1, 2), FIB[14]):
        made = [l for l in threads[key] if re.match(r" *-> fib\b", l)]
        t.same(len(made), want, "calls: fib() of thread %d" % key[1])
    bad, open_ = [], []
    for l in threads[1, 0]:
        m = re.fullmatch(r"( *)(->|<-) ([^\t]*)(\t\d+)?", l)
        if l.startswith("#"):
            continue
        depth = len(m[1]) // 2
        if m[2] == "<-":
            while len(open_) > depth + 1:
                open_.pop() # a far return, to below them
            if not open_ or open_.pop() != (depth, m[3]) or not m[4]:
                bad.append(l)
        elif depth > len(open_):
            bad.append(l)
        elif not m[4]:
            del open_[depth:]
            open_.append((depth, m[3]))
    t.none(bad[:5], "calls: returns are of calls")
    whole = [l for l in threads[1, 0] if re.match(r" *<- fib\t", l)]
    own = len([l for l in code(by_thread(insns)[1, 0])])
    t.ok(0 < max(int(l.split("\t")[1]) for l in whole) < own,
         "calls: instructions within", whole[-1:])
    leaps = [l for l in threads[1, 0] if re.search(r"-> leap\b", l)]
    t.same(len(leaps), 6, "calls: a far return ends them all")


def check_pictures(t, file):
    svg = t.replay("--format", "svg", "--thread", "0", file).decode()
    ET.fromstring(svg)
    names = set(re.findall(r"<title>(\S+)", svg))
    t.ok({"main", "fib"} <= names, "svg: main() and fib()", sorted(names))
    page = t.replay("--format", "html", "--thread", "0", file).decode()
    t.ok(page.startswith("<!DOCTYPE html>") and "fib" in page and
         "http" not in page.replace("http://www.w3.org/2000/svg", ""),
         "html: a page that needs nothing")
    status, out, err = t.tally("replay", "--format", "svg", file)
    t.same((status, "3 such threads" in err), (3, True),
           "a picture is of one thread")


def check_library(t, file, told):
    """The example of the library counts them, too."""
    cc = compiler(HOST, "gcc")
    for how in (["libtally-replay.a", "-lzstd", "-lpthread"],
                ["libtally-replay.so", "-Wl,-rpath," + REPLAY_LIBRARY]):
        run(*cc, "-Isrc/trace/library", "-o", t.path("by-image"),
            "doc/insns-by-image.c", os.path.join(REPLAY_LIBRARY, how[0]),
            *how[1:])
        got = {os.path.basename(l.split("\t")[2]): int(l.split("\t")[0])
               for l in run(t.path("by-image"), t.path(file)).splitlines()}
        want = {}
        for x in told:
            want[x["image"]] = want.get(x["image"], 0) + 1
        t.same({k: n for k, n in got.items() if n}, want,
               "a simulator with %s" % how[0])
    p = subprocess.run([t.path("by-image"), t.path("calls")],
                       stderr=subprocess.PIPE, text=True)
    t.ok(p.returncode == 2 and "calls" in p.stderr,
         "which says what is no trace", [p.stderr])


def check_misuse(t, file):
    for words, status in (
            (["--format", "svg", "--as", "blocks"], 2),
            (["--format", "din", "--as", "calls"], 2),
            (["--json", "--as", "calls"], 2),
            (["--as", "bbv", "--interleave"], 2),
            (["--interval", "0", "--as", "bbv"], 2),
            (["--as", "nothing"], 2)):
        got, out, err = t.tally("replay", *words, file)
        t.ok(got == status and not out and err, " ".join(words), [got, err])
    got, out, err = t.tally("replay", "-o", "/no/such/file", file)
    t.same((got, out), (4, ""), "what cannot be written")
    t.replay("-o", "lines", "--as", "insns", "--count", "9", file)
    t.same(len(code(open(t.path("lines")).read().splitlines())), 9 * THREADS,
           "a file of lines")


def check_all(t):
    t.build("calls")
    file = t.trace("calls.trace", "./calls")
    check_holds(t, file)
    insns, told = check_lines(t, file)
    check_ranges(t, file, insns)
    at = check_simulators(t, file, told)
    champsim = check_champsim(t, file, told, at)
    kinds = check_drmemtrace(t, file, told, at)
    check_without_file(t, file, told, champsim, kinds)
    check_vectors(t, file, told)
    check_calls(t, file, insns)
    check_pictures(t, file)
    if not count_run.EMULATED:
        check_library(t, file, told)
    check_misuse(t, file)


def main():
    with tempfile.TemporaryDirectory() as where:
        t = Replays(where)
        for isa in sys.argv[1:] or ISAS:
            count_run.use(isa)
            if count_run.missing():
                t.skip(isa, count_run.missing())
            else:
                check_all(t)
        t.done()


main()
