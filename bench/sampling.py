#!/usr/bin/env python3
"""sampling: what samples of the whole system cost, beside perf.

    bench/sampling.py BUILD [WAY...]

Two loads: bzip2 on every CPU, and compiling small files, as many at a time as
there are CPUs. Each runs alone and beside

    null, steady    the same interrupts, and a program in the kernel that counts
    null, bursts    nothing at them
    tally, steady   `tally daemon`, the kernel counts samples
    tally, bursts   the same, in bursts
    tally, rings    the same, the kernel tells of each sample
    perf            `perf record -a`

all (or those named) at the same rate, in random order within a round. The
figure is the user and system time of the load and of the profiler while it ran,
by that of the load alone in the same round; mean and its 95 % interval. What
the profiler needs to begin is apart. Rounds go on until all intervals are within POINTS (0.4) percent
or there were ROUNDS (40) of them. Then one daemon runs beside bzip2 for STEADY
seconds (300, as much as it waits between two writes).
"""
import json
import math
import os
import random
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from resource import RUSAGE_CHILDREN, getrusage

BUILD = os.path.abspath(sys.argv[1])
TALLY = BUILD + "/tally"
RATE = 5200
ROUNDS = int(os.environ.get("ROUNDS", 40))
POINTS = float(os.environ.get("POINTS", 0.4))
STEADY = int(os.environ.get("STEADY", 300))
CPUS = len(os.sched_getaffinity(0))
INPUT, FILES = 12 << 20, 60
# percent that we allow ourselves, and hope for
BARS = {"bzip2": (2.0, 1.0), "small files": (3.0, 2.0)}
LOADS = {
    "bzip2": "for i in $(seq %d); do bzip2 -9 -c input >/dev/null & done; "
             "wait" % CPUS,
    "small files": "ls *.c | xargs -P%d -I@ gcc -O1 -c -o @.o @" % CPUS,
}
# of a mean, two-sided 95 %, by degrees of freedom; beyond, as the last
STUDENT = [math.inf, 12.71, 4.30, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26,
           2.23, 2.20, 2.18, 2.16, 2.14, 2.13, 2.12, 2.11, 2.10, 2.09, 2.09]


def interval(values):
    """the mean and how far off it may be"""
    n = len(values)
    t = STUDENT[min(n - 1, len(STUDENT) - 1)]
    off = t * statistics.stdev(values) / math.sqrt(n) if n > 1 else math.inf
    return statistics.mean(values), off


def cpu_of(pid):
    """seconds that a process has had of a CPU"""
    return int(open("/proc/%d/schedstat" % pid).read().split()[0]) / 1e9


def busy():
    """seconds that all CPUs were busy, with us or others on this machine"""
    user, nice, system, idle, wait, irq, soft = (
        int(x) for x in open("/proc/stat").readline().split()[1:8])
    return (user + nice + system + irq + soft) / os.sysconf("SC_CLK_TCK")


class Alone:
    """nobody looks; and what those who do have in common"""
    process = None

    def begin(self):
        pass

    def samples(self):
        """(taken, lost) so far, or None"""

    def end(self):
        """the same, at the end"""


class Null(Alone):
    def __init__(self, how):
        self.how = how

    def begin(self):
        self.process = subprocess.Popen(
            [BUILD + "/bench/null", str(RATE), self.how],
            stdin=subprocess.PIPE, stderr=subprocess.PIPE)
        self.process.stderr.readline()

    def end(self):
        self.process.communicate()


class Daemon(Alone):
    def __init__(self, *words):
        self.words = words

    def begin(self):
        shutil.rmtree("db", ignore_errors=True)
        self.process = subprocess.Popen(
            [TALLY, "daemon", "run", "--db", "db", "--rate", str(RATE),
             *self.words], stderr=subprocess.PIPE)
        self.process.stderr.readline()

    def tell(self, word):
        return json.loads(subprocess.run(
            [TALLY, "daemon", word, "--json", "--db", "db"], check=True,
            capture_output=True).stdout)

    def samples(self):
        said = self.tell("status")
        return said["samples"], said["lost"]

    def end(self):
        self.tell("stop")
        self.process.communicate()


class Perf(Alone):
    def begin(self):
        """it is told to begin, and says when it has"""
        told, tell = os.pipe()
        hear, heard = os.pipe()
        self.process = subprocess.Popen(
            ["perf", "record", "-q", "-a", "-F", str(RATE), "-o", "data",
             "-D", "-1", "--control", "fd:%d,%d" % (told, heard)],
            stderr=subprocess.DEVNULL, pass_fds=(told, heard))
        os.close(told)
        os.close(heard)
        os.write(tell, b"enable\n")
        os.read(hear, 5)
        self.pipes = tell, hear

    def end(self):
        self.process.send_signal(signal.SIGINT)
        self.process.communicate()
        for pipe in self.pipes:
            os.close(pipe)
        text = subprocess.run(["perf", "report", "-i", "data", "--stats"],
                              capture_output=True, text=True).stdout
        found = dict(re.findall(r"(\w+) events: +(\d+)", text))
        if "SAMPLE" in found:  # else it could not read its own file
            return int(found["SAMPLE"]), int(found.get("LOST_SAMPLES", 0))


WAYS = {
    "alone": Alone(),
    "null, steady": Null("steady"),
    "null, bursts": Null("bursts"),
    "tally, steady": Daemon("--source", "bpf", "--steady"),
    "tally, bursts": Daemon("--source", "bpf", "--bursts"),
    "tally, rings": Daemon("--source", "rings"),
    "perf": Perf(),
}


class Tally:
    """what was seen of one way, round by round"""

    def __init__(self):
        self.cost, self.start, self.rate, self.lost = [], [], [], 0


def once(way, load):
    """(CPU seconds of both, of the beginning, rate per busy CPU, lost)"""
    way.begin()
    pid = way.process.pid if way.process else None
    start = cpu_of(pid) if pid else 0
    had, was = way.samples(), busy()
    before = getrusage(RUSAGE_CHILDREN)
    subprocess.run(["sh", "-c", load], check=True)
    after = getrusage(RUSAGE_CHILDREN)
    spent = after.ru_utime - before.ru_utime + \
        after.ru_stime - before.ru_stime
    own = cpu_of(pid) - start if pid else 0
    have, now = way.samples(), busy()
    last = way.end()
    have, had = have or last, had or (0, 0)
    way.process = None
    rate = (have[0] - had[0]) / (now - was) if have else None
    return spent + own, start, rate, have[1] - had[1] if have else 0


def measure(name, load):
    seen = {w: Tally() for w in WAYS}
    for done in range(1, ROUNDS + 1):
        order = list(WAYS)
        random.shuffle(order)
        got = {w: once(WAYS[w], load) for w in order}
        for w, (cost, start, rate, lost) in got.items():
            seen[w].cost.append(100 * (cost / got["alone"][0] - 1))
            seen[w].start.append(1000 * start)
            if rate is not None:
                seen[w].rate.append(rate)
            seen[w].lost += lost
        if done > 2 and all(interval(t.cost)[1] <= POINTS
                            for t in seen.values()):
            break
    del seen["alone"]
    show(name, done, seen)


def show(name, rounds, seen):
    print("%s, %d rounds; at most %.1f %%, better %.1f %%" %
          (name, rounds, *BARS[name]))
    print("  %-15s %16s %10s %12s %8s" %
          ("", "cost, %", "begin, ms", "samples/s/CPU", "lost"))
    for w, t in seen.items():
        mean, off = interval(t.cost)
        rate = "%.0f" % statistics.mean(t.rate) if t.rate else ""
        print("  %-15s %7.2f +- %5.2f %10.0f %12s %8d" %
              (w, mean, off, statistics.median(t.start), rate, t.lost))
    for how in "steady", "bursts":
        if not {"tally, " + how, "null, " + how} <= set(seen):
            continue
        pairs = [a - b for a, b in zip(seen["tally, " + how].cost,
                                       seen["null, " + how].cost)]
        print("  %-15s %7.2f +- %5.2f points over null; at most 0.3" %
              (how, *interval(pairs)))
    print(flush=True)


def steady(how):
    """a daemon for as long as it waits between two writes"""
    d = Daemon("--source", "bpf", how)
    d.begin()
    before, start = d.tell("status"), cpu_of(d.process.pid)
    load = subprocess.Popen(["sh", "-c", "while :; do %s; done" %
                             LOADS["bzip2"]], start_new_session=True)
    time.sleep(STEADY)
    own = cpu_of(d.process.pid) - start
    said = d.tell("flush")
    io = open("/proc/%d/io" % d.process.pid).read()
    wrote = int(re.search(r"^write_bytes: (\d+)", io, re.M).group(1))
    os.killpg(load.pid, signal.SIGTERM)
    load.wait()
    d.end()
    kept = sum(os.path.getsize(os.path.join("db", n))
               for n in os.listdir("db"))
    print("%s, %d s: %.3f %% of a CPU (at most 0.1), %d kB of memory (32768), "
          "%.0f bytes/s written, %.0f bytes/s kept (2000); %d samples, %d "
          "unknown, %d lost" %
          (said["source"], STEADY, 100 * own / STEADY, said["memory_kb"],
           wrote / STEADY, kept / STEADY, said["samples"] - before["samples"],
           said["unknown"], said["lost"]), flush=True)


def make_loads():
    with open("input", "wb") as f:
        for name in sorted(os.listdir("/usr/bin")):
            path = os.path.join("/usr/bin", name)
            if f.tell() < INPUT and os.path.isfile(path):
                f.write(open(path, "rb").read())
    for i in range(FILES):
        with open("small%d.c" % i, "w") as f:
            f.write("#include <stdio.h>\n#include <stdlib.h>\n")
            for j in range(20):
                f.write("int f%d(int n) { int t = %d; for (int i = 0; i < n; "
                        "i++) t = t * 31 + (i %% 7 == 3 ? n : i ^ t); "
                        "printf(\"%%d\", t); return t; }\n" % (j, j))


with tempfile.TemporaryDirectory() as where:
    os.chdir(where)
    make_loads()
    if not shutil.which("perf"):
        del WAYS["perf"]
    for way in set(WAYS) - {"alone", *(sys.argv[2:] or WAYS)}:
        del WAYS[way]
    print("%d samples per second and CPU, %d CPUs" % (RATE, CPUS))
    for load in LOADS:
        measure(load, LOADS[load])
    for how in "--steady", "--bursts":
        steady(how)
