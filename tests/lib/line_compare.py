#!/usr/bin/env python3
"""line_compare: are counts of lines gcov's?

    tests/lib/line_compare.py TALLY NAME PLAIN COVERED [UNLIKE]

PLAIN and COVERED are folders with two builds of the same source, in the same
places, not optimized: one with debug information, one for gcov. Both programs,
./NAME, do the same work, gcov's after the counts of earlier runs were removed.
Prints how many lines gcov has, how many of them are known here, of how many the
counts are the same, and in UNLIKE (a file) which are not. Status 1 if less than
99 in 100 of those that are known are the same.

Not known here are lines that leave nothing in a program, neither instructions
nor a mark: labels of cases and of goto, for the most part. What differs are
expressions that go over several lines, of which gcov counts its own blocks,
before the compiler put them in order; and statements that return, which gcov
counts again for what is cleaned up after them.
"""
import glob
import json
import os
import subprocess
import sys
import tempfile

LEAST = 0.99

SQL = """
CREATE TABLE t(a INTEGER PRIMARY KEY, b TEXT, c REAL);
WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 900)
INSERT INTO t SELECT x, 'row ' || x * 7 % 100, x / 3.0 FROM n;
CREATE INDEX tb ON t(b, c);
SELECT b, count(*), sum(c) FROM t GROUP BY b HAVING count(*) > 3 ORDER BY 3
DESC LIMIT 5;
UPDATE t SET c = c + 1 WHERE b LIKE '%3'; DELETE FROM t WHERE a % 11 = 0;
SELECT json_extract('{"a": [1, 2]}', '$.a[1]'), printf('%08.3f', 2.5);
SELECT a.a, b.b FROM t a JOIN t b ON a.a = b.a * 2 WHERE a.c > 90 LIMIT 9;
BEGIN; INSERT INTO t(b) VALUES ('x'); ROLLBACK; PRAGMA integrity_check;
SELECT strftime('%Y', 0), hex(zeroblob(2)), group_concat(a) FROM t WHERE a < 9;
EXPLAIN SELECT * FROM t WHERE b = 'row 7'; .schema
"""
AWK = r"""
BEGIN { for (i = 0; i < 400; i++) { n[i % 37] += i; s = s sprintf("%d ", i) }
  k = split(s, w); for (i in n) t += n[i]; gsub(/9+/, "<&>", s)
  print k, t, length(s), substr(s, 5, 20), toupper("abc"), index(s, "42")
  while ((getline line < ARGV[1]) > 0) { if (line ~ /^[a-z]+\(/) c++; else d++ }
  print c, d, match("foobar", /o+/), RSTART, strftime("%Y", 0), exp(1)
  m = asort(n); print m, n[1], log(10) > "/dev/null"; f(12) }
function f(x) { return x < 2 ? 1 : f(x - 1) * x }
"""


def cnf(where):
    """Eight pigeons in seven holes"""
    holes, pigeons = 7, 8
    rows = [[p * holes + h + 1 for h in range(holes)] for p in range(pigeons)]
    rows += [[-(p * holes + h + 1), -(q * holes + h + 1)]
             for h in range(holes) for p in range(pigeons) for q in range(p)]
    path = os.path.join(where, "pigeons.cnf")
    with open(path, "w") as f:
        f.write("p cnf %d %d\n" % (holes * pigeons, len(rows)))
        f.writelines(" ".join(map(str, r)) + " 0\n" for r in rows)
    return path


def work(name, where, source):
    """Arguments and input of a run"""
    if name == "sqlite3":
        return [":memory:"], SQL
    if name == "gawk":
        return [AWK, os.path.join(source, "main.c")], ""
    if name == "minisat":
        return ["-verb=0", cnf(where)], ""
    return [], ""


def execute(words, given, folder):
    p = subprocess.run(words, input=given, text=True, cwd=folder,
                       stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                       env={**os.environ, "TZ": "UTC", "LC_ALL": "C"})
    return p.returncode, p.stdout


def add(lines, top, file, line, count):
    file = os.path.relpath(os.path.realpath(os.path.join(top, file)), top)
    if not file.startswith(".."):
        lines[file, line] = lines.get((file, line), 0) + count


def by_gcov(top, words, given, folder):
    for old in glob.glob(top + "/**/*.gcda", recursive=True):
        os.remove(old)
    said = execute(words, given, folder)
    lines = {}
    for data in glob.glob(top + "/**/*.gcda", recursive=True):
        at = os.path.dirname(data)
        text = subprocess.run(["gcov", "--json-format", "--stdout", data],
                              cwd=at, stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, text=True).stdout
        for one in text.splitlines():
            one = json.loads(one)
            base = one["current_working_directory"]
            for f in one["files"]:
                for l in f["lines"]:
                    add(lines, top, os.path.join(base, f["file"]),
                        l["line_number"], l["count"])
    return said, lines


def by_tally(tally, top, words, given, folder, where):
    profile = os.path.join(where, "profile")
    said = execute([tally, "count", "--quiet", "--libs", "none", "-o",
                    profile, *words], given, folder)
    rows = json.loads(subprocess.check_output(
        [tally, "report", "--by", "line", "--all", "--json", profile]))
    lines = {}
    for r in rows:
        add(lines, top, r["file"], r["line"], r["count"])
    return said, lines


def judge(name, want, got, unlike):
    """Prints the figures; whether they are good"""
    both = sorted(k for k in want if k in got)
    other = [k for k in both if want[k] != got[k]]
    alone = sorted(k for k in want if k not in got)
    print("%-8s %6d lines, %6d here, %6d the same, %.3f%%" % (
        name, len(want), len(both), len(both) - len(other),
        100 * (1 - len(other) / len(both))))
    if unlike:
        with open(unlike, "w") as f:
            f.writelines("%s:%d: %d, gcov says %d\n" % (*k, got[k], want[k])
                         for k in other)
            f.writelines("%s:%d: missing, gcov says %d\n" % (*k, want[k])
                         for k in alone)
    return len(both) - len(other) >= LEAST * len(both) > 0


def main():
    tally, name = os.path.abspath(sys.argv[1]), sys.argv[2]
    plain, covered = map(os.path.realpath, sys.argv[3:5])
    unlike = sys.argv[5] if len(sys.argv) > 5 else None
    with tempfile.TemporaryDirectory() as where:
        os.environ["TALLY_CACHE"] = where + "/cache"
        args, given = work(name, where, plain)
        a, want = by_gcov(covered, [os.path.join(covered, name), *args],
                          given, where)
        b, got = by_tally(tally, plain, [os.path.join(plain, name), *args],
                          given, where, where)
        if a != b:
            sys.exit("%s: the two builds do not do the same" % name)
        sys.exit(not judge(name, want, got, unlike))


main()
