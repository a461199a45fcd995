#!/usr/bin/env python3
"""
export-autofdo: LLVM takes what `tally export --format autofdo` says of the
lines of functions. llvm-profgen, given how often each instruction ran, makes
the same of it, call by inlined call; llvm-profdata reads and writes it without
loss; and clang, told so, gives branches the weights that are their exact
counts, and makes a program that does the same. Names are those of the linker.
"""
import glob
import json
import re
import sys

sys.path.insert(0, "tests/lib")
import count_run
from count_run import *

tap = Tap()
FLAGS = ["-g", "-fdebug-info-for-profiling"]
CASES = [
    ("samples", ["../samples.c"], "clang", ["-O2"]),
    ("samples-plain", ["../samples.c"], "clang", ["-O0"]),
    ("lines", ["../lines.cc"], "clang++", ["-O2"]),
]


def llvm(name):
    """A tool of LLVM's, by its plain name or beside the others."""
    return shutil.which(name) or sorted(
        glob.glob("/usr/lib/llvm-*/bin/" + name))[0]


def parse(text):
    """{path: {place: (count, targets)}}; a path leads through inlined calls"""
    out, stack = {}, []
    for line in text.splitlines():
        if line.startswith("#"):
            continue
        depth = len(line) - len(line.lstrip(" "))
        words = line.split()
        del stack[depth:]
        if not depth:
            stack = [line.rsplit(":", 2)[0]]
            out.setdefault(tuple(stack), {})
        elif words[1].isdigit():
            out[tuple(stack)][words[0]] = (int(words[1]), set(words[2:]))
        else:
            stack.append(words[0] + words[1].rsplit(":", 1)[0])
            out.setdefault(tuple(stack), {})
    return out


def base(exe):
    """llvm-profgen's addresses begin with the first code that is loaded."""
    text = run(tool(count_run.ISA, "readelf"), "-lW", exe)
    return int(re.search(r"LOAD +\S+ (\S+) .* R E ", text)[1], 16)


def raw(profile, name, exe):
    """Instructions and calls with their counts, as llvm-profgen reads them."""
    ran = told(profile)[name]
    calls = [c for c in json.loads(run(TALLY, "report", "--by", "call-site",
                                       "--json", profile))
             if c["image"] == c["callee_image"] == name]
    low = base(exe)
    out = ["%d" % len(ran)]
    out += ["%x-%x:%d" % (a - low, a - low, n) for a, n in ran.items()]
    out += ["%d" % len(calls)]
    out += ["%x->%x:%d" % (int(c["address"], 16) - low,
                           int(c["callee_address"], 16) - low, c["count"])
            for c in calls]
    return "\n".join(out) + "\n"


def sane(body):
    """Without places that have no line: they are far before the function."""
    return {p: n for p, n in body.items() if int(p.split(".")[0].rstrip(":"))
            < 60000}


def as_profgen(here, profile, name, exe, got):
    with open(here + "/raw", "w") as f:
        f.write(raw(profile, name, exe))
    run(llvm("llvm-profgen"), "--binary=" + exe, "--format=text",
        "--unsymbolized-profile=" + here + "/raw", "--output=" + here + "/gen")
    want = parse(open(here + "/gen").read())
    bad, n = [], 0
    for path, body in want.items():
        for place, (count, targets) in sane(body).items():
            n += 1
            mine = got.get(path, {}).get(place, (None, set()))
            # it does not see who was called in other images
            if mine[0] != count or not targets <= mine[1]:
                bad.append("%s %s: %s, want %d %s" % (
                    path, place, mine, count, targets))
    for path, body in got.items():
        bad += ["%s %s: %s, want nothing" % (path, place, x[0])
                for place, x in body.items()
                if x[0] and path in want and place not in want[path]]
    return bad if n > 20 else bad + ["only %d places" % n]


def as_profdata(here, file):
    """llvm-profdata writes what it read."""
    copy = here + "/copy.prof"
    run(llvm("llvm-profdata"), "merge", "--sample", "--text", "-o", copy, file)
    want, got = (parse(open(f).read()) for f in (file, copy))
    return [] if want == got else ["it reads something else"]


def weights(text, function):
    """{(weights)} of a function's branches, and its entry count"""
    body = re.search(r"^define [^\n]*@%s\(.*?^}" % function, text,
                     re.M | re.S)[0]
    nodes = dict(re.findall(r"^(!\d+) = (.*)$", text, re.M))
    used = [nodes[n] for n in re.findall(r"!prof (!\d+)", body)]
    out = {tuple(map(int, re.findall(r"i32 (\d+)", n))) for n in used
           if "branch_weights" in n}
    entry = [int(re.search(r"i64 (-?\d+)", n)[1]) for n in used
             if "function_entry_count" in n]
    return out, entry


def as_clang(here, name, file):
    """What clang makes of it: each number is one more than ours."""
    ir = run(*compiler(count_run.ISA, "clang"), "-w", "-O1", "-g", "-S",
             "-emit-llvm", "-fprofile-sample-use=" + file, "-o", "-",
             *paths(["../samples.c"]))
    # calls: 1000 and, by the table, 20 and 10; at -O2 fold calls itself less
    want = {"main": 1, "choose": 1020, "sum": 30}
    if name.endswith("plain"):
        want["fold"] = 66
    bad = ["%s: entries %s, want %d" % (f, weights(ir, f)[1], n + 1)
           for f, n in want.items() if weights(ir, f)[1] != [n + 1]]
    pairs = weights(ir, "choose")[0]
    if (100 + 1, 920 + 1) not in pairs:
        bad.append("choose: %s" % pairs)
    return bad


def rebuilt(here, name, file, sources, cc, exe):
    """The program that clang makes with it does the same."""
    new = build(here, name + "-again", sources, "-O2", "-g",
                "-fprofile-sample-use=" + file, cc=cc)
    return differences(*(quiet([*emulator(count_run.ISA), x], here)[:2]
                         for x in (exe, new)))


def names(got, exe):
    """Functions are called as the linker calls them."""
    known = {w.split()[-1] for w in run(
        tool(count_run.ISA, "nm"), exe).splitlines()}
    own = {path[0] for path in got} & known
    return [] if "main" in own and len(own) > 3 else ["%s" % own]


def attempt(name, sources, cc, flags):
    here = room(name)
    exe = build(here, name, sources, *FLAGS, *flags, cc=cc)
    profile = tally_count(here, exe, [], name, "--calls", "--libs", "none")[3]
    file = here + "/prof"
    with open(file, "w") as f:
        f.write(run(TALLY, "export", "--format", "autofdo", profile))
    got = parse(open(file).read())
    result = [("names", names(got, exe)),
              ("llvm-profdata", as_profdata(here, file)),
              ("rebuilt", rebuilt(here, name, file, sources, cc, exe))]
    if count_run.ISA == "x86_64":  # llvm-profgen 14 knows no other
        result.append(("llvm-profgen",
                       as_profgen(here, profile, name, exe, got)))
    if name.startswith("samples"):
        result.append(("clang", as_clang(here, name, file)))
    return result


def bare(name):
    """Without lines there is nothing, and a note says why."""
    here = room(name)
    exe = build(here, name, ["../samples.c"], "-O2", cc="clang")
    profile = tally_count(here, exe, [], name, "--libs", "none")[3]
    said = quiet([TALLY, "export", "--format", "autofdo", profile], here)
    good = said[:2] == (0, "") and "debug information" in said[2]
    return [("a note", [] if good else ["%s" % (said,)])]


def jobs():
    yield "bare", bare, "bare"
    for case in CASES:
        yield case[0], attempt, *case


test_all(tap, jobs)
