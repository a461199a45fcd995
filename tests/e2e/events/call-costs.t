#!/usr/bin/env python3
"""
call-costs: what calls cost (`tally events --per-call-site`), as all who show it
say: `report`, of a recursive program whose numbers one can work out;
callgrind_annotate, of what `export` writes; `flame`, whose pictures others
read. Profiles without call costs are refused, damaged ones do no harm.
"""
import html.parser
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import xml.dom.minidom

sys.path.insert(0, "tests/lib")
from answers import *
from cfg_oracle import EMULATED
from patience import PATIENCE

# work() is called by two; fib() by two, and by itself
PROGRAM = """
#include <stdio.h>
#define NOINLINE __attribute__((noinline, noclone))
NOINLINE unsigned fib(unsigned n)
{
	return n < 2 ? n : fib(n - 1) + fib(n - 2);
}
NOINLINE unsigned work(unsigned n)
{
	unsigned sum = 0;
	for (unsigned i = 0; i < n; i++)
		sum += fib(i % 10);
	return sum;
}
NOINLINE unsigned few(unsigned n) { return work(n) + 1; }
NOINLINE unsigned many(unsigned n) { return work(3 * n) + 2; }
int main(void)
{
	printf("%u\\n", fib(15) + few(20) + many(20));
	return 0;
}
"""
# a handler, recursion of two procedures, and a C library that calls back
OTHERS = """
#include <signal.h>
#include <stdlib.h>
volatile unsigned sum;
#define NOINLINE __attribute__((noinline, noclone))
NOINLINE void step(void) { sum++; }
NOINLINE void odd(unsigned n);
NOINLINE void even(unsigned n)
{
	step();
	if (n)
		odd(n - 1);
	sum++;
}
NOINLINE void odd(unsigned n)
{
	step();
	step();
	even(n - 1);
	sum++;
}
void handler(int number) { (void)number; step(); }
int compare(const void *a, const void *b)
{
	step();
	return *(const char *)a - *(const char *)b;
}
int main(void)
{
	char text[] = "7391";
	signal(SIGUSR1, handler);
	raise(SIGUSR1);
	raise(SIGUSR1);
	even(10);
	qsort(text, 4, 1, compare);
	return 0;
}
"""
EVENTS = ["at:fib", "insns", "loads", "stores"]


def calls_of(n):
    """calls of fib that one of fib(n) is, with itself"""
    return 1 if n < 2 else 1 + calls_of(n - 1) + calls_of(n - 2)


def nested(n):
    """the sum of calls_of() over all of these calls"""
    return calls_of(n) + (nested(n - 1) + nested(n - 2) if n > 1 else 0)


def in_work(f, n):
    return sum(f(i % 10) for i in range(n))


MAIN, FEW, MANY = calls_of(15), in_work(calls_of, 20), in_work(calls_of, 60)
ALL = MAIN + FEW + MANY
NESTED = nested(15) + in_work(nested, 20) + in_work(nested, 60)


def costs(inclusive, inclusive_all, **more):
    return {"inclusive": inclusive, "inclusive_all": inclusive_all, **more}


def check_procedures(t):
    got = {r["procedure"]: r for r in t.parsed(
        "report", "--json", "--image", "fib", "P")}
    want = {"fib": (ALL, costs(ALL, NESTED, own=ALL)),
            "work": (2, costs(FEW + MANY, FEW + MANY, own=0)),
            "few": (1, costs(FEW, FEW, own=0)),
            "many": (1, costs(MANY, MANY, own=0)),
            "main": (1, costs(ALL, ALL, own=0))}
    t.same({k: (got[k]["calls"], got[k]["events"]["at:fib"]) for k in want},
           want, "procedures")
    bad = []
    for name, r in got.items():
        for e, x in r["events"].items():
            if not x["own"] <= x["inclusive"] <= x["inclusive_all"]:
                bad.append("%s: %s %s" % (name, e, x))
    t.none(bad, "own is not more than inclusive, nor that than all")
    return got


def check_sites(t):
    rows = t.parsed("report", "--by", "call-site", "--json", "--image",
                    "fib", "P")
    got = {}
    for r in rows:
        if r["callee"] in ("fib", "work"):
            x = r["events"]["at:fib"]
            a = got.setdefault((r["procedure"], r["callee"], r["kind"]),
                               [0, 0, 0])
            for i, n in enumerate((r["calls"], x["inclusive"],
                                   x["inclusive_all"])):
                a[i] += n
    outer = 1 + 20 + 60
    t.same(got, {("main", "fib", "call"): [1, MAIN, MAIN],
                 ("work", "fib", "call"): [outer - 1, FEW + MANY, FEW + MANY],
                 ("fib", "fib", "call"): [ALL - outer, 0, NESTED - ALL],
                 ("few", "work", "call"): [1, FEW, FEW],
                 ("many", "work", "call"): [1, MANY, MANY]}, "call sites")
    t.ok(all(r["address"].startswith("0x") for r in rows if r["image"]) and
         any(r["kind"] == "outside" and r["procedure"] == "[outside]" and
             r["address"] is None for r in rows),
         "the program's start is called from outside")


def check_text(t):
    status, out, err = t.tally("report", "--image", "fib", "P")
    head = out.splitlines()[0].split()
    t.same((status, err, head[:3], head[-3:]),
           (0, "", ["at:fib", "at:fib/all", "at:fib/own"],
            ["calls", "image", "procedure"]), "a table, without notes")
    t.ok(re.search(r"^ *{:,} +{:,} +{:,} .* {:,} +fib +fib$".format(
        ALL, NESTED, ALL, ALL), out, re.M), "a row of it", out.splitlines())


def number(text):
    return int(text.replace(",", ""))


def annotated(t, *options):
    """({procedure: numbers}, of all, text) by callgrind_annotate"""
    text = run("callgrind_annotate", "--threshold=100", "--auto=no",
               "--show-percs=no", *options, "callgrind", cwd=t.where)
    rows, total = {}, None
    for line in text.splitlines():
        m = re.match(r"((?: *(?:[\d,]+|\.))+) +(\* +)?(\S.*)$", line)
        if not m:
            continue
        values = [number(n) if n != "." else 0 for n in m[1].split()]
        name = re.search(r":(\w+) \[.*/fib\]$", m[3])
        if m[3] == "PROGRAM TOTALS":
            total = values
        elif name:
            rows[name[1]] = values
    return rows, total, text


def check_callgrind(t, told, procedures):
    status, out, err = t.tally("export", "--format", "callgrind", "P")
    with open(t.path("callgrind"), "w") as f:
        f.write(out)
    t.same((status, err), (0, ""), "export to callgrind, without notes")
    t.ok("\nevents: at:fib Ir Dr Dw\n" in out, "its columns",
         out.splitlines()[:8])
    for way, key in ("no", "own"), ("yes", "inclusive_all"):
        rows, total, text = annotated(t, "--inclusive=" + way)
        t.same(total, [told[e] for e in EVENTS],
               "callgrind_annotate: totals of the run, --inclusive=" + way)
        want = {p: [procedures[p]["events"][e][key] for e in EVENTS]
                for p in ("fib", "work", "few", "many", "main")}
        t.ok({p: rows.get(p) for p in want} == want, key + " as in a report",
             ["%s, want %s" % (rows, want)] + text.splitlines())
    tree = annotated(t, "--inclusive=yes", "--tree=both")[2]
    t.ok(re.search(r"< .*:work \(80x\)", tree) and
         re.search(r"> .*:fib \(80x\)", tree), "callers and callees",
         tree.splitlines())


class Frames:
    """the frames of a picture: (name, events, about?, hatched?), and boxes"""

    def __init__(self, text):
        self.v, self.boxes = [], []
        for g in xml.dom.minidom.parseString(text).getElementsByTagName("g"):
            if g.getAttribute("class") != "frame":
                continue
            tip = g.getElementsByTagName("title")[0].firstChild.data
            m = re.search(r"^(about )?([\d,]+) ", tip, re.M)
            hatched = "url(#hatch)" in g.toxml()
            self.v.append((tip.split("\n")[0], number(m[2]), bool(m[1]),
                           hatched))
            box = g.getElementsByTagName("svg")[0]
            self.boxes.append([float(box.getAttribute(k))
                               for k in ("x", "width", "y", "height")])

    def of(self, name):
        return sorted(f[1:] for f in self.v if f[0] == name)

    def loose(self):
        """those that do not lie on one other, or overlap their neighbour"""
        rows, bad = {}, []
        for x, width, y, height in self.boxes:
            rows.setdefault(y, []).append((x, x + width))
        for y, row in rows.items():
            row.sort()
            below = rows.get(y + height + 1)
            bad += ["%s at %s" % (f, y) for f in row
                    if below and not any(b[0] - 0.01 <= f[0] and
                                         f[1] <= b[1] + 0.51 for b in below)]
            bad += ["%s and %s at %s" % (f, g, y)
                    for f, g in zip(row, row[1:]) if f[1] > g[0] + 0.01]
        return bad


def check_svg(t):
    status, out, err = t.tally("flame", "P")
    t.same((status, err), (0, ""), "flame, of the first event")
    frames = Frames(out)
    t.same(frames.of("fib"), sorted([(MAIN, False, False), (FEW, True, True),
                                     (MANY, True, True)]),
           "what work() called is shared out, and says so")
    t.same([frames.of(n) for n in ("[outside]", "main", "few", "many")],
           [[(n, False, False)] for n in (ALL, ALL, FEW, MANY)],
           "what one procedure called is measured")
    t.same(frames.of("work"), sorted([(FEW, False, False),
                                      (MANY, False, False)]),
           "and what each of two called")
    t.ok("shared out by the cost of its callers: not measured</text>" in out,
         "a legend")
    t.same(t.tally("flame", "P")[1], out, "the same again")
    t.same(t.tally("flame", "-o", "out.svg", "P")[:2], (0, ""), "to a file")
    t.same(open(t.path("out.svg")).read(), out, "it is the same")
    other = t.tally("flame", "--event", "loads", "P")[1]
    t.ok(len(Frames(other).of("fib")) == 3 and " loads, by caller;" in other,
         "of another event")
    t.none(Frames(other).loose(), "frames lie on one another")


def check_others(t, libs):
    """of step(), by all ways that lead there"""
    run(TALLY, "events", "--per-call-site", "-e", "at:step", "--libs",
        libs, "--json", "--output", "told", "-o", "Q", "./others",
        cwd=t.where, env=ENV)
    with open(t.path("told")) as f:
        all_steps = json.load(f)["events"]["at:step"]
    status, out, err = t.tally("flame", "Q")
    frames = Frames(out)
    t.same(sum(f[0] for n in ("[outside]", "[signal 10]")
               for f in frames.of(n)), all_steps,
           "--libs %s: roots have all" % libs)
    t.same([frames.of(n) for n in ("[signal 10]", "handler", "even")],
           [[(n, False, False)] for n in (2, 2, 6 + 10)],
           "a handler; recursion is in the outermost")
    t.ok([f[0] for f in frames.of("odd")] == [10] and
         [f[0] for f in frames.of("compare")] == [all_steps - 18],
         "what is called in turn, and back", out.splitlines())
    t.none(frames.loose(), "frames lie on one another")


def costs_of(t, *program, **more):
    """(status, all instructions, those that procedures have as their own)"""
    p = subprocess.run([TALLY, "events", "--per-call-site", "--json",
                        "--output", "told", "-o", "S", *program],
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                       **{"cwd": t.where, "env": ENV, **more})
    here = more.get("cwd", t.where)
    with open(here + "/told") as f:
        told = json.load(f)["events"]["insns"]
    rows = json.loads(t.tally("report", "--json", here + "/S")[1])
    own = [r["events"]["insns"]["own"] for r in rows]
    return p.returncode, told, None if None in own else sum(own)


def check_sums(t):
    """Every instruction is one procedure's own: nothing is counted twice."""
    for words in (["bash", "-c", "for i in 1 2; do echo $i | cat; done"],
                  ["perl", "-e", "print sort(qw(c a b))"],
                  ["sqlite3", ":memory:", "select upper('a')"],
                  ["./others"]):
        if words[0].startswith(".") or shutil.which(words[0]):
            status, told, own = costs_of(t, *words)
            t.same((status, own), (0, told), "%s: own costs add up" %
                   words[0])


# as compilers do not do it: name, status, text
ODD = (("direction", 1, """
main:	std
	call one
	pushf
	pop %rax
	cld
	shr $10, %eax
	and $1, %eax	# the direction flag is still set
	ret
one:	call two
	ret
two:	nop
	ret
"""), ("below", 42, """
main:	call leave
	mov -16(%rsp), %rax	# what that has pushed
	ret
leave:	push $42
	pop %rdx
	ret
"""))


def check_odd(t):
    """Flags and data that programs keep over calls in ways of their own."""
    for name, status, text in ODD if HOST == "x86_64" else ():
        with open(t.path(name + ".S"), "w") as f:
            f.write("\t.globl main\n\t.type main, @function\n" + text +
                    '\t.section .note.GNU-stack, "", @progbits\n')
        run(*compiler(HOST, "gcc"), "-o", name, name + ".S", cwd=t.where)
        got = subprocess.run([TALLY, "events", "--per-call-site", "-o", "Q",
                              "--output", "told", "./" + name], cwd=t.where,
                             env=ENV).returncode
        t.same(got, status, name + ": the program does what it does")


# a program that a child executes in its parent's memory is not its parent's;
# then forks where the stack is as it was
EXECUTED = """
#include <alloca.h>
#include <sys/wait.h>
#include <unistd.h>
__attribute__((noinline)) static void forks(int n)
{
	volatile char *a = alloca(n + 16);
	pid_t child = (a[0] = 1, fork());
	if (!child)
		_exit(0);
	waitpid(child, 0, 0);
	a[1] = 2;
}
__attribute__((noinline)) static void executes(void)
{
	volatile char a[4096];
	pid_t child = (a[0] = 1, vfork());
	if (!child) {
		execl("/bin/true", "true", (char *)0);
		_exit(9);
	}
	waitpid(child, 0, 0);
	a[1] = 1;
}
int main(void)
{
	executes();
	for (int i = 0; i < 7000; i += 16)
		forks(i);
	return 3;
}
"""


def check_executed(t):
    with open(t.path("executed.c"), "w") as f:
        f.write(EXECUTED)
    run(*compiler(HOST, "gcc"), "-O1", "-w", "-o", "executed", "executed.c",
        cwd=t.where)
    for words in ["count", "--quiet", "-o", "Q"], ["events", "--output",
                                                  "told"]:
        got = subprocess.run([TALLY, *words, "./executed"], cwd=t.where,
                             env=ENV, timeout=PATIENCE).returncode
        t.same(got, 3, "%s: vfork(), then forks" % words[0])


THREADS = """
#include <pthread.h>
static volatile unsigned sum;
__attribute__((noinline, noclone)) void *work(void *p) { sum++; return p; }
int main(void)
{
	pthread_t t[3];
	for (int i = 0; i < 3; i++)
		pthread_create(&t[i], 0, work, 0);
	for (int i = 0; i < 3; i++)
		pthread_join(t[i], 0);
	return 0;
}
"""


def check_threads(t):
    """What makes threads calls what these do: its own cost is unknown."""
    run(TALLY, "events", "--per-call-site", "--output", "told", "-o", "T",
        "./threads", cwd=t.where, env=ENV)
    caller = {r["callee"]: r["procedure"] for r in t.parsed(
        "report", "--by", "call-site", "--json", "T")}
    t.same([r["procedure"] for r in t.parsed("report", "--json", "T")
            if r["events"]["insns"]["own"] is None],
           [caller[caller["work"]]], "the own cost of what makes threads")
    out = t.tally("flame", "T")[1]
    begin = Frames(out).of(caller["work"])
    t.ok(begin and Frames(out).of("[thread]") == begin and
         len(Frames(out).of("work")) == 1, "threads have a root",
         out.splitlines())


FAILS = """
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>
static volatile int seen;
static void handler(int s) { seen += s == SIGUSR1; }
int main(void)
{
	struct rlimit none = {0, 0};
	signal(SIGUSR1, handler);
	setrlimit(RLIMIT_NPROC, &none);
	int pid = fork();
	for (int i = 0; i < 3000; i++)
		raise(SIGUSR1);
	return pid == -1 && seen == 3000 ? 7 : pid ? 8 : 0;
}
"""


def check_failed_fork(t):
    """Room in the profile that a child did not need is used again."""
    user, here = 65534, t.path("user")
    os.mkdir(here)
    os.chmod(t.where, 0o755)
    with open(here + "/fails.c", "w") as f:
        f.write(FAILS)
    run(*compiler(HOST, "gcc"), "-O1", "-o", "fails", "fails.c", cwd=here)
    more = {"cwd": here, "env": {**ENV, "XDG_CACHE_HOME": here}}
    if os.geteuid() == 0:   # whom nothing limits
        os.chown(here, user, user)
        more.update(user=user, group=user, extra_groups=[])
    try:
        subprocess.run([TALLY, "--version"], check=True,
                       stdout=subprocess.DEVNULL, **more)
    except (OSError, subprocess.CalledProcessError):
        return              # that user may not come here
    status, told, own = costs_of(t, "./fails", **more)
    t.same((status, own), (7, told), "a fork that fails")


# more text than what code of AArch64 reaches to count for threads later, and
# many places that count
LARGE = """
__asm__(".text\\n.zero 57 << 20\\n");
__attribute__((noinline)) unsigned leaf(unsigned x) { return x * 3 + 1; }
__attribute__((noinline)) unsigned many(unsigned x)
{
	unsigned sum = 0;
%s	return sum;
}
int main(void)
{
	unsigned sum = 0;
	for (unsigned i = 0; i < 10; i++)
		sum += leaf(many(i));
	return sum == 0;
}
""" % "".join("\tif (x & %d) sum = sum * 3 + x;\n" % (1 << i % 5)
             for i in range(8000))


def check_large(t):
    """A large image counts for threads from the beginning."""
    with open(t.path("large.c"), "w") as f:
        f.write(LARGE)
    run(*compiler(HOST, "gcc"), "-O0", "-o", "large", "large.c", cwd=t.where)
    status, told, own = costs_of(t, "--strict", "--libs", "none", "./large")
    t.same((status, own), (0, told), "a large image")


class Page(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.tags, self.links = {}, []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.tags[tag] = self.tags.get(tag, 0) + 1
        self.links += [v for k, v in attributes if k in ("src", "href")]


def check_html(t):
    status, out, err = t.tally("flame", "--format", "html", "P")
    page = Page(out)
    t.ok(status == 0 and page.tags.get("script") == 1 and not page.links and
         page.tags["svg"] > 8, "a page that needs nothing else",
         [status, err, page.tags, page.links])
    svg = out[out.index("<svg"):out.rindex("</svg>") + 6]
    t.ok(len(Frames(svg).of("fib")) == 3 and "@" not in
         out.replace(svg, ""), "with the picture in it")


def check_refused(t):
    for name, words in ("plain", ("count", "--quiet")), \
            ("online", ("events", "--online", "--output", "counts")):
        run(TALLY, *words, "-o", name, "./fib", cwd=t.where, env=ENV)
        t.refused(3, "tally events --per-call-site", "flame", name)
    t.refused(3, "events 'taken' were not counted", "flame", "--event",
              "taken", "P")
    t.refused(4, "cannot write it", "flame", "-o", "none/x", "P")
    t.same(t.tally("report", "online")[0], 0,
           "a report of running counters")


def check_mutants(t):
    """Bytes anywhere in the file: it is refused, or is a picture."""
    data, rng, bad = open(t.path("P"), "rb").read(), random.Random(5), []
    ways = (["flame"], ["report", "--json"], ["export", "--format",
                                              "callgrind"])
    for i in range(MUTANTS // 5):
        b = bytearray(data)
        for _ in range(rng.choice((1, 3, 30))):
            b[rng.randrange(len(b))] = rng.getrandbits(8)
        with open(t.path("victim"), "wb") as f:
            f.write(bytes(b))
        for way in ways:
            status, out, err = t.tally(*way, "victim")
            if status not in (0, 3):
                bad.append("mutant %d: %s: status %d %s" % (i, way, status,
                                                            err))
            if not status and way == ["flame"]:
                xml.dom.minidom.parseString(out)
    t.none(bad, "damaged anywhere")


with tempfile.TemporaryDirectory() as where:
    t = Asker(where)
    if EMULATED:
        print("1..0 # SKIP programs of this machine are counted")
        sys.exit(0)
    ENV = {**os.environ, "XDG_CACHE_HOME": where}
    for name, text in ("fib", PROGRAM), ("others", OTHERS), \
            ("threads", THREADS):
        with open(t.path(name + ".c"), "w") as f:
            f.write(text)
        run(*compiler(HOST, "gcc"), "-O1", "-g", "-pthread", "-o", name,
            name + ".c", cwd=where)
    run(TALLY, "events", "--per-call-site", "-e", ",".join(EVENTS), "--json",
        "--output", "told", "-o", "P", "./fib", cwd=where, env=ENV)
    with open(t.path("told")) as f:
        told = json.load(f)["events"]
    t.same(told["at:fib"], ALL, "fib() ran as often as it should")
    procedures = check_procedures(t)
    check_sites(t)
    check_text(t)
    check_callgrind(t, told, procedures)
    check_svg(t)
    check_html(t)
    check_others(t, "all")
    check_others(t, "none")
    check_sums(t)
    check_threads(t)
    check_failed_fork(t)
    check_odd(t)
    check_executed(t)
    check_large(t)
    check_refused(t)
    for way in (["flame"], ["report", "--by", "call-site"],
                ["export", "--format", "callgrind"]):
        t.mutants("P", lambda victim: [*way, victim], 0)
    check_mutants(t)
    t.done()
