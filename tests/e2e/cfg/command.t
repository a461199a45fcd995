#!/usr/bin/env python3
"""
cfg/command: `tally cfg` as a command: options, PROCEDURE by name and by
address, the three outputs agree, dot accepts the graph, and mistakes are
answered with the right status and a message.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, "tests/lib")
from cfg_oracle import *

tap = Tap()


def call(*words):
    """(status, output, messages) of tally."""
    p = subprocess.run([TALLY, *words], stdout=subprocess.PIPE,
                       stderr=subprocess.PIPE, text=True, errors="replace")
    return p.returncode, p.stdout, p.stderr


def refused(status, says, *words):
    got, out, err = call(*words)
    good = got == status and not out and re.search(says, err)
    title = "tally %s: status %d, %s" % (
        " ".join(w.split("/")[-1] for w in words), status, says)
    tap.ok(good, re.sub(r"[^ -~]", "?", title),
           ["status %d" % got] + err.splitlines())


def numbers(text):
    """The summary's numbers by label."""
    return {m.group(1): int(m.group(2).replace(",", "")) for m in
            re.finditer(r"^  (\S.*?)  +([\d,]+)", text, re.M)}


def try_summary(path, g):
    status, out, _ = call("cfg", path)
    n = numbers(out)
    want = {
        "procedures": len(g.procs),
        "blocks": len(g.starts),
        "bytes of text": g.json["text_bytes"],
        "bytes in unwind tables": g.json["unwind_bytes"],
        "tables, bounded": g.json["jump_tables"]["bounded"],
        "tables, approximated from above":
            g.json["jump_tables"]["approximated"],
        "not understood": g.json["jump_tables"]["unknown"],
        "tail calls": g.json["indirect_tail_calls"],
        "to another stack": g.json["jumps_away"],
    }
    bad = ["%s: %s, JSON has %d" % (k, n.get(k), v)
           for k, v in want.items() if n.get(k) != v]
    tap.ok(status == 0 and not bad, "the summary has JSON's numbers", bad)


def try_one(path, g, name):
    whole = next(p for p in g.procs if p["name"] == name)
    by_name = tally_cfg(path, name)
    tap.ok(by_name["procedures"] == [whole],
           "%s by name is what it is in the whole" % name)
    inside = whole["blocks"][-1]["start"]
    for word in (whole["entry"], inside):
        one = tally_cfg(path, word)["procedures"]
        tap.ok(one == [whole], "%s by address %s" % (name, word))
    status, out, _ = call("cfg", path, name)
    rows = re.findall(r"^ *(0x[0-9a-f]+) +(0x[0-9a-f]+)", out, re.M)
    tap.ok(status == 0 and rows ==
           [(b["start"], b["end"]) for b in whole["blocks"]],
           "%s as text has the same blocks" % name)
    try_dot(path, name, whole)


def read_dot(text):
    """(label by address of block, [(from, to, cases)]), hubs resolved."""
    label = dict(re.findall(r"^  (b\d+) \[label=<(.*)>[,\]]", text, re.M))
    where = {b: re.search(r"0x\w+", s).group() for b, s in label.items()}
    edges = [(f, t, (re.search(r'label="\[(.*?)\]"', more) or ["", ""])[1])
             for f, t, more in re.findall(r"^  (\w+) -> (\w+) \[(.*)\];",
                                          text, re.M)]
    behind = {}
    for f, t, cases in edges:
        behind.setdefault(f, []).append((t, cases))
    flat = [(where[f], where[b], cases) for f, t, _ in edges if f in where
            for b, cases in (behind[t] if t.startswith("hub") else
                             [(t, _)])]
    return {where[b]: s for b, s in label.items()}, flat


SAYS = {"return": "return", "tail-call": "tail call",
        "away": "another stack",
        "no-return": "never comes back|trap", "unknown": "not understood"}


def try_dot(path, name, whole):
    status, out, _ = call("cfg", "--dot", path, name)
    label, edges = read_dot(out)
    tap.ok(status == 0 and set(label) == {
        b["start"] for b in whole["blocks"] if not b.get("padding")},
        "%s as dot has the same blocks" % name)
    tap.ok({e[:2] for e in edges} == {(e["from"], e["to"])
                                     for e in whole["edges"]},
           "%s as dot has the same edges" % name)
    bad = [str(e) for e in whole["exits"]
           if not re.search(SAYS[e["kind"]], label[e["from"]])]
    tap.ok(not bad, "%s as dot has the same exits" % name, bad)
    if not shutil.which("dot"):
        tap.skip("dot draws it", "no graphviz")
        return
    p = subprocess.run(["dot", "-Tsvg"], input=out, text=True,
                       stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    tap.ok(p.returncode == 0 and not p.stderr and
           p.stdout.count('class="edge"') == out.count(" -> "),
           "dot draws %s" % name, p.stderr.splitlines())


def try_cases(path, g, name):
    """The entries of a table along its edges are all there, once each."""
    whole = next(p for p in g.procs if p["name"] == name)
    _, edges = read_dot(call("cfg", "--dot", path, name)[1])
    starts = {b["start"] for b in whole["blocks"]}
    for d in g.json["dispatches"]:
        at = g.at(int(d["at"], 16))
        if "%#x" % at not in starts or d["status"] != "bounded":
            continue
        got = []
        for f, _, cases in edges:
            for run_ in cases.split(", ") if int(f, 16) == at else ():
                lo, hi = (run_.split("..") * 2)[:2]
                got += range(int(lo), int(hi) + 1)
        tap.ok(sorted(got) == list(range(d["entries"])),
               "%s: entries of the table at %s" % (name, d["at"]),
               ["%s of %d" % (sorted(got), d["entries"])])


def try_contract(path, g):
    j = g.json
    need = {"file": str, "isa": str, "build_id": str, "text_bytes": int,
            "covered_bytes": int, "procedures": list, "jump_tables": dict,
            "in_place": list}
    bad = [k for k, t in need.items() if not isinstance(j.get(k), t)]
    tap.ok(not bad, "every key of the contract is there", bad)
    notes = run(tool(HOST, "readelf"), "-nW", path)
    m = re.search(r"Build ID: (\w+)", notes)
    tap.ok(j["build_id"] == (m.group(1) if m else ""), "the build id")
    tap.ok(j["file"] == path, "the file")
    tap.ok(all(re.match(r"0x[0-9a-f]+$", b[k]) for p in g.procs
               for b in p["blocks"] for k in ("start", "end")),
           "addresses are strings")
    tap.ok(call("cfg", path, "--json") == call("cfg", "--json", path),
           "options may follow; the same output twice")


with tempfile.TemporaryDirectory() as where:
    path = os.path.join(where, "sample")
    odd = os.path.join(where, "a\"b\\c\n.so")
    cxx = compiler(HOST, "g++")
    if not cxx:
        tap.skip("all", "no compiler")
        tap.done()
    sources = ["tests/progs/%s" % s for s in
               ("switch.c", "goto.c", "tail.c", "noret.c", "misc.c",
                "throw.cc")]
    run(*cxx, "-O2", "-c", "-o", path + ".o", sources[-1])
    run(*compiler(HOST, "gcc"), "-O2", "-w", "-o", path, *sources[:-1],
        path + ".o", "-lstdc++")
    shutil.copy(path, odd)
    g = Graph(path)
    try_contract(path, g)
    try_summary(path, g)
    for name in ("dense", "threaded", "machine", "_Z10throw_manyi", "main"):
        try_one(path, g, name)
    try_cases(path, g, "dense")
    try_cases(path, g, "threaded")
    label, _ = read_dot(call("cfg", "--dot", path, "main")[1])
    tap.ok(any("call all_noret" in s for s in label.values()) and
           any("call printf" in s for s in label.values()),
           "calls are by name, imports too", label.values())
    size = {s: int(re.search(r"(\d+) insns?<", t).group(1))
            for s, t in label.items()}
    text = run(tool(HOST, "objdump"), "-dwz", path)
    bad = [s for s, n in size.items() if n != sum(
        int(s, 16) <= int(a, 16) < g.block[int(s, 16)][0]
        for a in re.findall(r"^ +(\w+):\t", text, re.M))]
    tap.ok(not bad, "numbers of instructions are objdump's", bad)
    out = call("cfg", "--dot", path, "huge")[1]
    if shutil.which("dot"):
        p = subprocess.run(["dot", "-Tcanon"], input=out, text=True,
                           stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        tap.ok(out.count("[label=<") > 1000 and not p.returncode and
               not p.stderr, "a large procedure is valid dot",
               p.stderr.splitlines())
    bare = path + ".bare"
    run(tool(HOST, "strip"), "-o", bare, path)
    h = Graph(bare)
    tap.ok([p["entry"] for p in h.procs if not p["name"].startswith("fn_")]
           != [p["entry"] for p in g.procs], "stripped: names are made up")
    entry = next(p for p in h.procs if p["name"].startswith("fn_"))
    tap.ok(tally_cfg(bare, entry["name"])["procedures"] == [entry],
           "a made-up name is a name")
    tap.ok(tally_cfg(odd)["file"] == odd, "a file name with quotes")
    named = os.path.join(where, "named")
    name = "d<en>\"s&e\\;\u00b7"
    run(tool(HOST, "objcopy"), "--redefine-sym", "dense=" + name, path, named)
    try_one(named, Graph(named), name)
    run(tool(HOST, "objcopy"), "--redefine-sym", b"dense=\xff\xfe<", path,
        named)
    dense = next(p for p in g.procs if p["name"] == "dense")
    try_dot(named, dense["entry"], dense)
    status, out, _ = call("cfg", "--help")
    tap.ok(status == 0 and "usage: tally cfg FILE" in out, "--help")
    for words in (["help", "cfg"], ["--help", "cfg"], ["cfg", path, "-h"]):
        tap.ok(call(*words) == (0, out, ""), "tally %s is the same" %
               " ".join(w.split("/")[-1] for w in words))
    general = call("help")
    tap.ok(general[0] == 0 and re.search(r"^  cfg  ", general[1], re.M),
           "tally help lists the commands", [general[1]])
    for words in (["--help"], ["-h"], ["help", "help"], ["help", "--help"]):
        tap.ok(call(*words) == general, "tally %s is the same" %
               " ".join(words))
    tap.ok(call() == (2, "", general[1]), "no command: the same, status 2")

    refused(2, "missing argument: FILE", "cfg")
    refused(2, r"unknown option '--jsn'; did you mean '--json'\?\n", "cfg",
            "--jsn", path)
    refused(2, "not both", "cfg", "--json", "--dot", path, "main")
    refused(2, "one PROCEDURE", "cfg", "--dot", path)
    refused(2, "too many", "cfg", path, "a", "b")
    refused(3, "no procedure 'nowhere'", "cfg", path, "nowhere")
    refused(3, "no procedure '0x1'", "cfg", path, "0x1")
    refused(2, r"no command 'cgf'; did you mean 'cfg'\?\n", "cgf")
    refused(2, "no command 'cgf'; did you mean 'cfg'", "help", "cgf")
    refused(2, "unknown option '--cfg'", "--cfg")
    refused(2, r"no command 'c%1b%0af'\n", "c\033\nf")

    run(tool(HOST, "objcopy"), "--redefine-sym", "dense=sparse", path, named)
    refused(2, "several procedures 'sparse'.*: 0x.* 0x", "cfg", named,
            "sparse")
    with open("/dev/full", "w") as full:
        p = subprocess.run([TALLY, "cfg", path], stdout=full,
                           stderr=subprocess.PIPE, text=True)
    tap.ok(p.returncode == 4 and "cannot write" in p.stderr,
           "a full disk: status 4", [p.stderr])
    status, out, _ = call("--version")
    tap.ok(status == 0 and re.fullmatch(r"tally \d[\d.]*\n", out),
           "--version", [out])

    tap.ok(tally_cfg(TALLY)["procedures"], "tally is not left alone")
    # texts that some runtimes have say nothing
    shutil.copy(path, named)
    with open(named, "ab") as f:
        f.write(b"\xff Go buildinf:\0ghc-prim\0OCAMLRUNPARAM\0")
    tap.ok(tally_cfg(named)["procedures"], "texts alone pin nothing")


def try_pinned(where):
    """runtimes that know where code lies: by what they read of it"""
    main = os.path.join(where, "pinned.c")
    with open(main, "w") as f:
        f.write("int called(void); __thread char *mono_aot;\n"
                "#ifdef MONO\nint mono_aot_file_info[9] = {180};\n#endif\n"
                "int main(void) { return called(); }\n")
    out = os.path.join(where, "pinned")
    for isa in ISAS:
        cc = compiler(isa, "gcc")
        if not cc:
            tap.skip("%s: pinned code" % isa, "no compiler")
            continue
        # tables of return addresses pin no code: tests/e2e/count/kept.t
        for flags, says in ((["-DRETURNS"], ""),
                            (["-DRETURNS", "-no-pie", "-s"], ""),
                            (["-DINFOS", "-s"], "Haskell"),
                            (["-DINFOS", "-no-pie"], "Haskell"),
                            (["-DMONO", "-shared", "-fPIC"], "Mono"),
                            ([], "")):
            run(*cc, *flags, "-o", out, main, "tests/progs/pinned.S")
            j = tally_cfg(out)
            tap.ok(bool(j["procedures"]) == (not says) and
                   all(says in r["reason"] for r in j["in_place"]),
                   "%s: %s: %s" % (isa, " ".join(flags), says or "moves"),
                   [str(j["in_place"][:2])])


def try_odd_name(where):
    """What a file is called does nothing to a terminal."""
    odd = os.path.join(where, "odd\x1b[31m\u202e")
    shutil.copy(TALLY, odd)
    for words in (["cfg", odd], ["instrument", odd, "-o", odd + ".new"]):
        p = subprocess.run([TALLY, *words], capture_output=True, text=True)
        tap.ok(p.returncode == 0 and "odd%1b[31m%e2%80%ae" in p.stdout and
               not set("\x1b\u202e") & set(p.stdout), words[0] +
               ": an odd name", p.stdout.splitlines()[:1] + [p.stderr])


with tempfile.TemporaryDirectory() as where:
    try_pinned(where)
    try_odd_name(where)
tap.done()
