#!/usr/bin/env python3
"""
runtimes: what counting costs programs whose runtimes know return addresses
(Go, OCaml). Their calls leave the old addresses, at a price (rewrite/survey/indirect_entry.c).

Numbers are user and system time under `tally count` by the original's of the
same round, medians of several; the cache is warm.
"""
import glob
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile

TALLY = os.path.abspath(sys.argv[1])
ROUNDS = int(os.environ.get("ROUNDS", 7))
FIB = """package main
func fib(n int) int { if n < 2 { return n }; return fib(n-1) + fib(n-2) }
func main() { println(fib(41)) }
"""
TREES = """type t = Leaf | Node of t * t
let rec make d = if d = 0 then Leaf else Node (make (d - 1), make (d - 1))
let rec size = function Leaf -> 1 | Node (a, b) -> 1 + size a + size b
let () = let n = ref 0 in for _ = 1 to 400 do n := !n + size (make 16) done;
  print_int !n
"""


def built(where, name, text, *words):
    source = os.path.join(where, name)
    with open(source, "w") as f:
        f.write(text)
    out = source + ".out"
    p = subprocess.run([w.format(out=out, source=source) for w in words],
                       env=dict(os.environ, GOCACHE=where + "/go",
                                GO111MODULE="off"), capture_output=True)
    return out if p.returncode == 0 else None


def programs(where):
    """(name, command) of each that there is"""
    sources = sorted(glob.glob("/usr/share/go-*/src/go/*/*.go"))
    if shutil.which("go"):
        yield "go: fib", [built(where, "fib.go", FIB, "go", "build", "-o",
                                "{out}", "{source}")]
        # those of one package alone
        ast = [s for s in sources if "/go/types/" in s and
               not re.search("_test|gotype.go", s)]
        tool = glob.glob("/usr/lib/go-*/pkg/tool/*/compile")
        if ast and tool:
            yield "go: compile", [tool[0], "-p", "go/types", "-o",
                                  where + "/types.o", *ast]
    if shutil.which("gofmt") and sources:
        yield "gofmt", ["gofmt", "-l", *sources]
    if shutil.which("ocamlopt"):
        yield "ocaml: trees", [built(where, "trees.ml", TREES, "ocamlopt",
                                     "-o", "{out}", "{source}")]


def cost(words):
    p = subprocess.Popen(words, stdout=subprocess.DEVNULL,
                         stderr=subprocess.DEVNULL)
    _, status, used = os.wait4(p.pid, 0)
    p.returncode = status
    return status, used.ru_utime + used.ru_stime


def main():
    bad = False
    print("%-14s %8s %8s" % ("program", "native", "counted"))
    with tempfile.TemporaryDirectory() as where:
        os.environ["XDG_CACHE_HOME"] = where + "/cache"
        for name, words in programs(where):
            if not words[0]:
                print("%-14s is not to be had" % name)
                continue
            counted = [TALLY, "count", "--quiet", "-o", where + "/p.tally",
                       "--", *words]
            want, have = cost(words)[0], cost(counted)[0]
            rounds = [(cost(words)[1], cost(counted)[1])
                      for _ in range(ROUNDS)]
            bad |= want != have
            print("%-14s %7.2fs %7.2fx%s" % (
                name, statistics.median(n for n, _ in rounds),
                statistics.median(c / n for n, c in rounds),
                "" if want == have else "  STATUS %d, NOT %d" % (have, want)))
    return bad


sys.exit(main())
