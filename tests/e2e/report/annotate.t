#!/usr/bin/env python3
"""
annotate: `tally annotate` shows every instruction of a procedure as objdump
disassembles it, with the count that `tally export` gives, branches that went
where `--by edge` says, and source lines; and what there is of all that if the
program is stripped, or has gone.
"""
import json
import os
import re
import sys
import tempfile

sys.path.insert(0, "tests/lib")
from rewrite_run import *

tap = Tap()
TALLY = os.path.abspath(TALLY)
ISA = "aarch64"
ENV = {**os.environ, "QEMU_LD_PREFIX": "/usr/%s-linux-gnu" % ISA}


def count(name, *flags, source="lines.cc"):
    """A profile of a program that is built so."""
    file = os.path.join(where, name)
    run(*compiler(ISA, "g++" if source.endswith("cc") else "gcc"), "-w",
        *flags, "-o", file, source, cwd=where)
    run(TALLY, "count", "-o", file + ".tally", file, cwd=where,
        env={**ENV, "XDG_CACHE_HOME": where})
    return file


TAIL = """
static void *buf[5];
__attribute__((noinline)) static void thrower(int i)
{ if (i % 3 == 0) __builtin_longjmp(buf, 1); }
__attribute__((noinline)) int tail(int i)
{ volatile int k = i; if (__builtin_setjmp(buf)) return k + 1000;
  thrower(i); return k; }
int other(int) __attribute__((alias("tail")));
int main(void) { long s = 0; for (int i = 0; i < 3000; i++) s += tail(i);
  return s != 5498500; }
"""


def check_tail():
    """where __builtin_longjmp() leads stays in place, behind all else"""
    with open(os.path.join(where, "tail.c"), "w") as f:
        f.write(TAIL)
    file = count("tail", "-g", "-O2", source="tail.c")
    start, size = re.search(r"(\w+) (\w+) T tail$",
                            run(tool(ISA, "nm"), "-S", file), re.M).groups()
    inside = [a for a in disassembled(file) if int(start, 16) <= int(a, 16)
              < int(start, 16) + int(size, 16)]
    code = annotated("tail", file)["code"]
    tap.ok([c["address"] for c in code] == inside and
           "not_measured" in code[-1], "all of it, to its end",
           [str(inside), str(code[-1])])
    tap.ok(annotated("other", file)["code"] == code,
           "by another symbol of its place")


def tally(*words, **more):
    return run(TALLY, *words, cwd=where, **more)


def annotated(procedure, file, **more):
    return json.loads(tally("annotate", "--json", procedure, file + ".tally",
                            "--image", os.path.basename(file), **more))


def counts(file):
    out = {}
    for line in tally("export", "--format", "tsv",
                      file + ".tally").splitlines():
        image, address, n = line.split("\t")
        if image == os.path.basename(file):
            out[address] = int(n)
    return out


def disassembled(file):
    text = run(tool(ISA, "objdump"), "-dw", "--no-show-raw-insn", file)
    return {"0x" + a: " ".join(re.sub(" <[^>]*>", "", t).split())
            for a, t in re.findall(r"^ +([0-9a-f]+):\t(.*)", text, re.M)}


def taken(file):
    """{address of the block: how often its branch was taken}"""
    rows = json.loads(tally("report", "--by", "edge", "--all", "--json",
                            file + ".tally"))
    return {r["from"]: r["count"] for r in rows if r["kind"] == "taken"
            and r["image"] == os.path.basename(file)}


def check_counts(name, file, procedure):
    code = annotated(procedure, file)["code"]
    want, text = counts(file), disassembled(file)
    bad = [str(c) for c in code if c["count"] != want.get(c["address"], 0) or
           c["instruction"] != text[c["address"]]]
    tap.ok(len(code) > 10 and not bad, name + ": counts and instructions",
           bad[:4])
    return code


def check_branches(name, file, code):
    want = sorted(n for a, n in taken(file).items()
                  if code[0]["address"] <= a <= code[-1]["address"])
    got = sorted(c["taken"] for c in code if "taken" in c)
    whole = all(c["taken"] + c["not_taken"] == c["count"] for c in code
                if "taken" in c)
    tap.ok(got == want and len(got) > 1 and whole, name + ": branches",
           ["%s, want %s" % (got, want)])


def check_lines(name, code):
    lines = {c["line"] for c in code if "line" in c and
             c["file"].endswith("/lines.cc")}
    text = open("tests/progs/lines.cc").read().split("\n")
    tap.ok(any("i % 3" in text[n - 1] for n in lines) and
           all("file" in c for c in code), name + ": lines", [str(lines)])


def check_text(file):
    out = tally("annotate", "work(int)", file + ".tally")
    tap.ok(re.search(r'^ +0 +0x\w+ .*\b34  +puts\("never"\);$', out, re.M),
           "source beside what never ran", out.splitlines()[:40])
    tap.ok(re.search(r"^ +\S+ +\S+% +0x\w+ +bl \w+ +"
                     r"shop::Sum<long>::often", out, re.M), "who is called", out.splitlines()[:40])
    lines = out.splitlines()
    tap.ok(lines[0].startswith("work(int)") and
           lines[1].startswith("calls 1, instructions "), "a heading",
           lines[:2])
    tap.ok(not any(l.endswith(" ") for l in lines), "no blanks at the ends")


def check_apart():
    """What lies between a procedure's parts is not the procedure's."""
    file = count("apart", "-O2", "-freorder-blocks-and-partition",
                 source="apart.c")
    code = annotated("work", file)["code"]
    at = [int(c["address"], 16) for c in code]
    tap.ok(max(b - a for a, b in zip(at, at[1:])) > 4096 and
           all(c["instruction"] for c in code), "two parts, both disassembled")
    tap.ok(all(c["count"] is not None for c in code),
           "nothing of others between them", [str(c) for c in code])


def refused(status, *words):
    p = subprocess.run([TALLY, "annotate", *words], cwd=where,
                       stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                       text=True)
    tap.ok(p.returncode == status and p.stderr.startswith("tally") and
           not p.stdout, "refused: " + " ".join(words),
           [str(p.returncode), p.stderr])


with tempfile.TemporaryDirectory() as where:
    for name in ("lines.cc", "apart.c"):
        shutil.copy("tests/progs/" + name, where)
    for name, flags in (("slow", ["-g", "-O0"]), ("fast", ["-g", "-O2"])):
        file = count(name, *flags)
        code = check_counts(name, file, "shop::Sum<long>::often")
        check_branches(name, file, code)
        check_lines(name, code)
    check_text(file)
    check_apart()
    check_tail()
    often = code[0]["address"]
    bare = count("bare", "-g", "-O2", "-s")
    same = [c["count"] for c in annotated(often, bare)["code"]]
    tap.ok(same == [c["count"] for c in code], "without symbols, by address")
    # nobody disassembles, but counts are there
    code = annotated("main", file, env={"PATH": "/nowhere"})["code"]
    tap.ok(len(code) > 10 and all(c["instruction"] is None and
                                  c["count"] is not None for c in code),
           "without a disassembler")
    os.rename(file, file + "-gone")
    code = annotated("main", file)["code"]
    tap.ok(len(code) > 10 and not any("file" in c for c in code),
           "the program has gone")
    shutil.copy(bare, file)
    code = annotated("main", file)["code"]
    tap.ok(len(code) > 10 and not any("file" in c for c in code),
           "another build is there")
    refused(3, "nobody", file + ".tally")
    refused(3, "main", file + ".tally", "--image", "nobody")
    refused(3, "main", "lines.cc")
    refused(2, "main")
    refused(2, "main", file + ".tally", "--wrong")
tap.done()
