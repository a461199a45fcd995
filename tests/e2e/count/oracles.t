#!/usr/bin/env python3
"""
count/oracles: counts of `tally count` against those of tools that nobody here
wrote.

    gcov       a program compiled with --coverage counts its own lines; the same
               file counted by tally says the same of its functions and,
               without optimization, lines
    callgrind  valgrind for AArch64, in qemu: every instruction of the program
               (not C++ with exceptions: it does not find memory for these)
    gdb        steps through a small program, instruction by instruction
"""
import concurrent.futures
import gzip
import json
import re
import socket
import sys
import tempfile

sys.path.insert(0, "tests/lib")
from count_run import *

tap = Tap()
GDB = shutil.which("gdb" if HOST == ISA else "gdb-multiarch")


def folder(name):
    here = os.path.join(where, name)
    os.makedirs(here)
    return here


def counted(here, exe):
    """(status, {address: count}) of the program itself."""
    status, _, _, profile = tally_count(here, exe, (), "counted")
    return status, collections.Counter(told(profile)[os.path.basename(exe)])


def differences_of(want, got, all_of=None):
    return ["%#x: %d, want %d" % (a, got[a], want[a])
            for a in sorted(all_of or set(want) | set(got))
            if got[a] != want[a]]


# --- gcov

def line_starts(exe):
    """{(file, line): addresses of statements that begin it}"""
    text = run(tool(ISA, "objdump"), "--dwarf=decodedline", exe)
    out = collections.defaultdict(list)
    last = None
    for l in text.splitlines():
        w = l.split()
        if len(w) < 3 or not w[1].isdigit() or not w[2].startswith("0x"):
            last = None if "END" in l else last
            continue
        key = w[0], int(w[1])
        if "x" in w[3:] and key != last:
            out[key].append(int(w[2], 16))
        last = key
    return out


def gcov_counts(here):
    """({(file, line): count}, {function: count}), as the program counted"""
    data = [f for f in os.listdir(here) if f.endswith(".gcda")]
    run(tool(ISA, "gcov"), "--json-format", *data, cwd=here)
    lines, functions = collections.Counter(), collections.Counter()
    for f in os.listdir(here):
        if not f.endswith(".gcov.json.gz"):
            continue
        with gzip.open(os.path.join(here, f)) as g:
            for file in json.load(g)["files"]:
                name = os.path.basename(file["file"])
                for l in file["lines"]:
                    lines[name, l["line_number"]] += l["count"]
                for l in file["functions"]:
                    functions[l["name"]] += l["execution_count"]
    return lines, functions


def by_gcov(name, source, *flags):
    """Lines that begin at one place, if nothing is optimized; functions."""
    here = folder(name)
    source = os.path.abspath(os.path.normpath(PROGS + source))
    exe = os.path.join(here, name)
    run(*compiler(ISA, "gcc"), "-w", "-g", "--coverage", *flags, "-o", exe,
        source, cwd=here)
    # the run that is counted by both
    status, got = counted(here, exe)
    lines, functions = gcov_counts(here)
    starts = line_starts(exe) if "-O0" in flags else {}
    want = {"line %d" % k[1]: (n, starts[k][0]) for k, n in lines.items()
            if len(starts.get(k, ())) == 1}
    entry = {n: a for a, _, n in Names.read(ISA, exe)}
    want.update({f: (n, entry[f]) for f, n in functions.items()})
    bad = ["%s: %d, want %d" % (k, got[a], n)
           for k, (n, a) in want.items() if got[a] != n]
    if len(want) < (40 if starts else 8):
        bad.append("only %d: %s" % (len(want), " ".join(want)))
    return [("gcov %s: %d lines and functions" % (" ".join(flags), len(want)),
             bad + ([] if status == 0 else ["status %d" % status]))]


# --- callgrind

def callgrind_counts(text):
    """{address: count} of all objects, as linked: those of a program at a fixed
    address are no other's"""
    out, skip = collections.Counter(), False
    for l in text.splitlines():
        if l.startswith("calls="):
            skip = True # what follows is the cost of the callee
        elif l.startswith("0x"):
            w = l.split()
            out[int(w[0], 16)] += 0 if skip else int(w[-1])
            skip = False
    return out


def by_callgrind(name, source, *flags):
    here = folder(name)
    exe = build(here, name, [source], "-no-pie", *flags)
    lib = VALGRIND + "/usr/libexec/valgrind"
    env = environment(here, VALGRIND_LIB=lib,
                      VALGRIND_LAUNCHER=VALGRIND + "/usr/bin/valgrind")
    p = subprocess.run([EMULATOR, lib + "/callgrind-arm64-linux",
                        "--dump-instr=yes", "--dump-line=no",
                        "--skip-plt=no", "--compress-strings=no",
                        "--compress-pos=no", "--callgrind-out-file=" + here +
                        "/out", exe], env=env, cwd=here,
                       stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL, timeout=SECONDS)
    start, end = text_of(exe)
    with open(here + "/out") as f:
        want = collections.Counter({a: n for a, n in callgrind_counts(
            f.read()).items() if start <= a < end})
    status, got = counted(here, exe)
    bad = differences_of(want, got, got.keys() |
                         {a for a in want if not in_plt(exe, a)})
    bad += [] if status == p.returncode else ["status %d, want %d" % (
        status, p.returncode)]
    return [("callgrind %s: %d instructions" % (os.path.basename(source), len(got)),
             bad)]


def sections(exe):
    """{name: (start, end)}"""
    out = {}
    for line in run(tool(ISA, "readelf"), "-SW", exe).splitlines():
        w = line.replace("[ ", "[").split()
        if len(w) > 5 and w[1].startswith("."):
            out[w[1]] = int(w[3], 16), int(w[3], 16) + int(w[5], 16)
    return out


def text_of(exe):
    s = sections(exe)
    return s[".init"][0], s[".fini"][1]


def in_plt(exe, address):
    """Is it a stub of the linker? These stay in place in such programs."""
    start, end = sections(exe)[".plt"]
    return start <= address < end


# --- gdb

STEPS = """
import collections
seen = collections.Counter()
gdb.execute("set confirm off")
gdb.execute("set pagination off")
gdb.execute("target remote :%d")
try:
    while True:
        seen[int(gdb.parse_and_eval("(unsigned long)$pc"))] += 1
        gdb.execute("stepi", to_string=True)
except gdb.error:
    pass
with open("%s", "w") as f:
    for a, n in seen.items():
        f.write("%%d %%d\\n" %% (a, n))
gdb.execute("quit")
"""


def by_gdb(name, source):
    here = folder(name)
    exe = os.path.join(here, name)
    run(*compiler(ISA, "gcc"), "-O1", "-w", "-static", "-nostdlib",
        "-fno-builtin", "-fno-stack-protector", "-o", exe, source)
    with socket.socket() as s:
        s.bind(("localhost", 0))
        port = s.getsockname()[1]
    with open(here + "/steps.py", "w") as f:
        f.write(STEPS % (port, here + "/seen"))
    p = subprocess.Popen([EMULATOR, "-g", str(port), exe],
                         stdin=subprocess.DEVNULL, **ALONE)
    try:
        subprocess.run([GDB, "-q", "-nx", "-batch", "-x", here + "/steps.py",
                        exe], stdin=subprocess.DEVNULL, timeout=SECONDS,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    finally:
        p.kill()
        p.wait()
    want = collections.Counter()
    for line in open(here + "/seen"):
        a, n = line.split()
        want[int(a)] = int(n)
    status, got = counted(here, exe)
    return [("gdb: %d steps" % sum(want.values()),
             differences_of(want, got) +
             ([] if sum(want.values()) > 500 else ["only few steps"]))]


COUNT = "../count/"


def jobs(pool):
    for level in ("-O0", "-O2"):
        yield pool.submit(by_gcov, "coverage" + level, COUNT + "lines.c",
                          level)
    if VALGRIND:
        for name, source, flags in (
                ("flow", "flow.c", ["-O2"]), ("jump", "jump.c", ["-O2"]),
                ("calls", COUNT + "calls.c", ["-O0"])):
            yield pool.submit(by_callgrind, "callgrind-" + name, source,
                              *flags)
    if GDB:
        yield pool.submit(by_gdb, "steps", PROGS + COUNT + "steps.c")


with tempfile.TemporaryDirectory() as where_, \
        concurrent.futures.ThreadPoolExecutor(2) as pool:
    if missing():
        tap.skip("oracles", missing())
    else:
        where = begin(where_)
        # apart from the programs of other tests
        os.environ["PACKAGES_CACHE"] = os.path.join(
            os.environ.get("PACKAGES_CACHE") or os.path.join(
                os.environ.get("XDG_CACHE_HOME") or
                os.path.expanduser("~/.cache"), "tally-tests"), "machine")
        VALGRIND = packages(ISA, "valgrind")
        if not VALGRIND:
            tap.skip("callgrind", "no package")
        if not GDB:
            tap.skip("gdb", "not installed")
        for future in jobs(pool):
            tap.job("count", future)
tap.done()
