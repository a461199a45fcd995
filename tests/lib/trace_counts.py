#!/usr/bin/env python3
"""
trace_counts: what traces of this system's programs tell, and what `tally count`
counts, edge by edge.

    trace_counts.py [--encoding NAME].. [--keep FOLDER] [NAME..]

Each program of JOBS is counted three times, and traced with each encoding. What
differs in two of the counts is left out. One that itself answers otherwise each
time, or is not here, is passed over.
"""
import argparse
import ctypes
import json
import os
import shutil
import subprocess
import sys
import tempfile

TALLY = os.path.join(os.environ.get("BUILD", "build"), "tally")
ENCODINGS = "witness", "bits", "every-branch"
SECONDS = 120
ADDR_NO_RANDOMIZE = 0x0040000
PERSONALITY = ctypes.CDLL(None).personality
KEY = "image", "procedure", "from", "to", "kind", "callee", "hub"

# TEXT: a file of lines; BYTES: one of bytes
JOBS = [
    "arch", "b2sum BYTES",
    "base32 BYTES", "base64 BYTES", "basename /a/b", "bc -e 2^300",
    "bzip2 -c TEXT", "cat TEXT", "cksum BYTES",
    "comm TEXT TEXT", "cpp -P TEXT", "csplit -s TEXT 5", "cut -c1-5 TEXT",
    "date -u -d @0", "dc -e 2_300^p", "diff TEXT BYTES", "dirname /a/b",
    "echo a", "env -i true", "expand TEXT", "expr 3 * 4", "factor 1234567890",
    "file TEXT", "find / -maxdepth 0", "fmt TEXT", "fold -w 20 TEXT",
    "gawk BEGIN{for(i=0;i<999;i++)s+=i;print(s)}", "getconf -a",
    "grep -c e TEXT", "grep -E (a|b)+c TEXT", "gzip -c TEXT", "head -5 TEXT",
    "iconv -f latin1 -t utf8 BYTES", "id -u", "join TEXT TEXT", "ld -v",
    "ls -d /", "m4 TEXT", "md5sum BYTES", "nl TEXT", "nm TALLY",
    "nproc", "numfmt --to=si 123456", "objdump -f TALLY", "od -c BYTES",
    "openssl dgst -sha256 BYTES", "paste TEXT TEXT", "perl -e print(2**20)",
    "pr TEXT", "printf %d 17", "ptx TEXT", "readelf -h TALLY", "rev TEXT",
    "sed s/a/b/g TEXT", "seq 500", "sha1sum BYTES", "sha512sum BYTES",
    "shuf --random-source=BYTES -i1-100", "size TALLY", "sort TEXT",
    "sort -n -r TEXT", "split -n 1/3 TEXT", "sqlite3 :memory: select(3*5)",
    "stat -c %s TEXT", "strings BYTES", "sum BYTES", "tac TEXT", "tail -5 TEXT",
    "tar -cf - --mtime=@0 TEXT", "test a = b", "tr a-z A-Z", "true",
    "tsort NONE", "unexpand TEXT", "uniq -c TEXT", "wc TEXT", "xxd BYTES",
    "xz -c TEXT", "zstd -q -c TEXT",
]


def same_place():
    """Runs before the program: addresses are the same in every run."""
    PERSONALITY(ADDR_NO_RANDOMIZE)


class Sweep:
    def __init__(self, where, args):
        self.where, self.args = where, args
        with open(where + "/TEXT", "w") as f:
            for i in range(300):
                f.write("%d line %s of text\tabc %d\n" % (
                    i * 7919 % 1000, "abcdefgh"[i % 8] * (i % 13), i))
        with open(where + "/BYTES", "wb") as f:
            f.write(bytes(i * i * 7 >> 3 & 255 for i in range(20000)))
        open(where + "/NONE", "w").close()
        shutil.copy("/bin/true", where + "/TALLY")
        self.env = {"PATH": "/usr/bin:/bin", "LC_ALL": "C", "LD_BIND_NOW": "1",
                    "HOME": "/nonexistent", "PERL_HASH_SEED": "0",
                    "MALLOC_TRIM_THRESHOLD_": "10000000",
                    "XDG_CACHE_HOME": where + "/cache"}

    def run(self, *words):
        try:
            p = subprocess.run(words, cwd=self.where, env=self.env,
                               stdin=subprocess.DEVNULL, timeout=SECONDS,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               preexec_fn=same_place)
        except subprocess.TimeoutExpired:
            return "timeout", b"", b""
        return p.returncode, p.stdout, p.stderr

    def measure(self, words, *verb):
        """How it went; or what went wrong, as text."""
        return self.run(os.path.abspath(TALLY), *verb, "--", *words)[:2]

    def edges(self, file):
        """({edge: counts}, what is said beside it)"""
        status, out, err = self.run(os.path.abspath(TALLY), "report", "--by",
                                    "edge", "--json", file)
        if status:
            return None, err.decode()
        edges = {}
        for r in json.loads(out):
            edges.setdefault(tuple(str(r.get(k)) for k in KEY),
                             []).append(r["count"])
        return edges, err.decode()

    def counted(self, words, want):
        """{edge: counts, or None where runs differ}; None: it is not steady"""
        all_runs = []
        for _ in range(3):
            if self.measure(words, "count", "--quiet", "--after-calls", "-o",
                            "one.tally") != want:
                return None
            all_runs.append(self.edges("one.tally")[0])
        keys = set().union(*all_runs)
        first = all_runs[0]
        return {k: first.get(k) if all(r.get(k) == first.get(k)
                                       for r in all_runs) else None
                for k in keys}

    def attempt(self, job):
        """A word, and complaints."""
        words = job.split()
        exe = shutil.which(words[0], path=self.env["PATH"])
        if not exe:
            return "absent", []
        words = [os.path.realpath(exe), *words[1:]]
        if b"libsigsegv" in open(words[0], "rb").read():
            return "reads how memory is mapped: not the same", []
        want = self.run(*words)[:2]
        if want != self.run(*words)[:2] or want[0] == "timeout":
            return "not steady", []
        counts = self.counted(words, want)
        if not counts or not any(counts.values()):
            return "not steady, counted", []
        bad = []
        for e in self.args.encoding or ENCODINGS:
            got = self.measure(words, "trace", "--encoding", e, "-o",
                               "one.trace")
            if got != want:
                bad.append("%s: %s, want %s" % (e, got[0], want[0]))
                continue
            bad += ["%s: %s" % (e, x) for x in
                    self.differing(counts, *self.edges("one.trace"))]
            if bad and self.args.keep:
                shutil.copy(self.where + "/one.trace", "%s/%s.%s.trace" % (
                    self.args.keep, os.path.basename(exe), e))
        return "%d edges" % len(counts), bad

    def differing(self, counts, edges, said):
        if edges is None:
            return [said]
        other = [k for k in sorted(set(edges) | set(counts))
                 if counts.get(k, 0) is not None and
                 edges.get(k) != counts.get(k)]
        bad = ["%s: %s, counted %s" % (" ".join(k), edges.get(k),
                                       counts.get(k)) for k in other[:5]]
        if len(other) > 5:
            bad.append("and %d more" % (len(other) - 5))
        return bad + [l for l in said.splitlines() if "trace" in l or
                      "thread" in l]


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--encoding", action="append")
    ap.add_argument("--keep")
    ap.add_argument("name", nargs="*")
    args = ap.parse_args()
    failed = tried = 0
    with tempfile.TemporaryDirectory() as where:
        sweep = Sweep(where, args)
        for job in JOBS:
            if args.name and job.split()[0] not in args.name:
                continue
            what, bad = sweep.attempt(job)
            tried += "edges" in what
            failed += bool(bad)
            print("%s %s: %s" % ("FAILED" if bad else "ok", job, what))
            for b in bad:
                print("  %s" % b)
            sys.stdout.flush()
    print("%d of %d failed" % (failed, tried))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
