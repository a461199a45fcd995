#!/usr/bin/env python3
"""
daemon: samples of the whole system fall where its time goes, whoever lives how
short, under whatever number; its owner and nobody else tells it what to do;
there is one per file; and whatever ends it, its database is whole.
"""
import contextlib
import ctypes
import fnmatch
import glob
import json
import math
import os
import random
import re
import resource
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, "tests/lib")
from cfg_oracle import *
from samples import *

KILLS, CROWD = 100, 10000
RATE = 5200  # samples per second and CPU, unless asked for otherwise
# milliseconds, and samples that a thread has in one at most
BURST = 20
IN_BURST = 10 * RATE * BURST / 1000
SANITIZED = b"__asan_init" in open(TALLY, "rb").read()
tap = Tap()


def named(name):
    """what a program of this test is called: others may test at the same
    time, and the daemon sees their programs, too"""
    return "%s-%x" % (name, os.getpid())


def build(name, *words):
    out = os.path.join(where, named(name))
    run("gcc", "-O1", "-o", out, *words)
    return out


class Daemon(RunningDaemon):
    def __init__(self, name, *words, **more):
        super().__init__(os.path.join(where, name + ".".join(OPTIONS)),
                         *OPTIONS, *words, **more)

    def procedures(self, image):
        """{procedure: samples} of an image, all that it has until now"""
        self.tell("flush")
        return procedures(self.db, image)

    def sample(self, least, program, **more):
        """runs the program until its image has so many samples"""
        image = os.path.basename(program)
        with running(program, **more):
            until(lambda: sum(self.procedures(image).values()) >= least)

    def repeat(self, enough, *words, **more):
        """runs the program again and again, until enough() is true of what
        is stored; how often it ran"""
        times = 0

        def once():
            nonlocal times
            subprocess.run(words, stdout=subprocess.DEVNULL, check=True,
                           **more)
            times += 1
            self.tell("flush")
            return enough()

        until(once, 0)
        return times


def rows_like(db, pattern):
    """rows of procedures of images that are called so; names of other code are
    not asked for, of which a system has very many"""
    there = fnmatch.filter([r["image"] for r in rows(db, "image")], pattern)
    return rows(db, "procedure", "--image", pattern) if there else []


def try_words():
    d = Daemon("words", "--flush", "86400")
    tap.ok(d.first == "tally: sampling into %s, process %d\n" %
           (d.db, d.process.pid), "it says that it samples", [d.first])
    with running(shares):
        until(lambda: d.tell("status").get("samples"))
    said = d.tell("status")
    tap.ok(said.get("pid") == d.process.pid and said["samples"] > 0 and
           said["unstored"] == said["samples"] and said["epoch"] == 1,
           "status: what it has", [said])
    tap.ok(not stored(d.db), "nothing is on disk yet")
    said = d.tell("flush")
    tap.ok(said.get("unstored") == 0 and
           total(rows(d.db, "image")) == said["samples"],
           "flush: now it is", [said])
    began = time.monotonic()
    said = d.tell("epoch")
    took = time.monotonic() - began
    tap.ok(said.get("epoch") == 2 and said["seconds"] <= took + 1,
           "epoch: another one", [said, took])
    status, out, err = tally("daemon", "run", "--db", d.db)
    tap.ok(status == 4 and str(d.process.pid) in err,
           "a second one is refused, by the first one's number",
           [status, err])
    status, out, err = tally("daemon", "start", "--db", d.db)
    tap.ok(status == 4 and str(d.process.pid) in err,
           "also in the background", [status, err])
    said = d.stop()
    tap.ok(d.process.returncode == 0 and said.get("pid") == d.process.pid,
           "stop: it ends", [said])
    n = total(rows(d.db, "image"))
    tap.ok(n == said["samples"] and said["unstored"] == 0,
           "with all samples on disk, of which it tells", [n, said])
    tap.ok(not os.path.exists(file_of(d.db) + ".socket"),
           "and its socket is gone")
    epochs = asked(d.db, "SELECT id, start, end, reason FROM epoch")
    tap.ok([e[3] for e in epochs] == ["daemon", "asked for"] and
           all(e[1] <= e[2] for e in epochs), "two epochs", epochs)
    cost = asked(d.db, "SELECT cpu, memory FROM cost")
    tap.ok(len(cost) == 2 and all(c[1] > 1000 for c in cost),
           "and what it has cost", cost)
    status, _, err = tally("daemon", "status", "--db", d.db)
    tap.ok(status == 4 and "no daemon runs" in err, "status of none",
           [status, err])


def try_start():
    db = os.path.join(where, "started")
    status, out, err = tally("daemon", "start", "--db", db, *OPTIONS)
    pid = int(re.search(r"^pid +(\d+)$", out, re.M).group(1)) \
        if status == 0 else 0
    tap.ok(pid and os.getsid(pid) == pid, "start: it runs apart",
           [status, out, err])
    os.kill(pid, signal.SIGTERM)
    until(lambda: tally("daemon", "status", "--db", db)[0] == 4)
    status, out, err = tally("report", "--by", "event", db)
    tap.ok(status == 0 and not complaints(db), "SIGTERM: it has written all",
           [status, err])


def try_shares():
    d = Daemon("shares.db")
    d.sample(600, shares)
    d.stop()
    got = procedures(d.db, named("shares"))
    a, b = got.get("three_quarters", 0), got.get("one_quarter", 0)
    tap.ok(is_share(a, a + b, 0.75), "shares are those of the work",
           ["%d and %d samples" % (a, b)])
    names = {by: total(rows(d.db, by)) for by in
             ("image", "procedure", "instruction", "process", "event")}
    tap.ok(len(set(names.values())) == 1, "every listing adds up to the same",
           [names])
    images = {r["image"] for r in rows(d.db, "image")}
    tap.ok("[kernel]" in images and named("shares") in images,
           "the kernel is there, too", [images])
    tap.none([r for r in rows(d.db, "process") if r.get("pid") == 0],
             "who is idle has no samples")


def try_running():
    """a program that ran before the daemon did"""
    with running(shares):
        d = Daemon("running")
        until(lambda: sum(d.procedures(named("shares")).values()) > 100)
        said = d.stop()
    tap.ok(said.get("samples") == stored(d.db),
           "what it tells at its end is all that it has", [said, stored(d.db)])
    tap.ok(of_image(d.db, named("shares")) > 100,
           "who ran already is known", [rows(d.db, "image")[:5]])


def try_chain():
    progs = [build("chain%d" % i, "tests/progs/sample/chain.c")
             for i in range(4)]
    names = [os.path.basename(p) for p in progs]
    d = Daemon("chain.db")
    d.repeat(lambda: sum(of_image(d.db, n) for n in names) > 1000, *progs)
    lost = d.stop()["lost"]
    got = [of_image(d.db, n) for n in names]
    # as much CPU time in each
    tap.ok(all(is_share(n, sum(got), 0.25, lost) for n in got),
           "who executes another: each has its samples", [got])


def try_again():
    first = build("first", "tests/progs/sample/chain.c")
    second = build("second", "tests/progs/sample/chain.c")
    prog = build("again", "tests/progs/sample/again.c")
    names = [os.path.basename(p) for p in (first, second)]
    d, pids = Daemon("again.db"), set()

    def by_process():
        return [total(r for r in rows(d.db, "process")
                      if str(r["pid"]) in pids and r["process"] == name)
                for name in names]

    def once():
        pids.add(run(prog, first, second).strip())
        d.tell("flush")
        return "" in pids or sum(by_process()) > 500

    until(once, 0)
    lost = d.stop()["lost"]
    if "" in pids:
        tap.skip("a number that is used again", "numbers are not to be had")
        return
    for by, (a, b) in (("process", by_process()),
                       ("image", [of_image(d.db, name) for name in names])):
        tap.ok(is_share(a, a + b, 0.5, lost), "a number that is used again: "
               "two, by " + by, [a, b, lost])


def try_reload():
    libs = [build("lib%d.so" % i, "-shared", "-fPIC", "-DN=%d" % i,
                  "tests/progs/sample/work.c") for i in range(3)]
    prog = build("reload", "tests/progs/sample/reload.c", "-ldl")
    d = Daemon("reload.db")

    def works(*names):
        return {r["image"]: r["samples"]
                for r in rows_like(d.db, named("lib?.so"))
                if r["procedure"] in names and r["path"] in libs}

    d.repeat(lambda: sum(works("work").values()) +
             of_image(d.db, "[unknown]") > 1000, prog, *libs)
    lost = d.stop()["lost"]
    got = works("work")
    tap.none(works("before", "behind").items(),
             "libraries in the place of others are not mistaken for one "
             "another")
    # counted ones do not say when they were so closely: they are unknown
    n, exact = sum(got.values()), "bpf" not in OPTIONS
    tap.ok(not exact or len(got) == 3 and
           all(is_share(x, n, 1 / 3, lost) for x in got.values()),
           "and told apart where it is known when they were", [got, lost])


def machine_times():
    """seconds in which its processors were busy, and all there were"""
    with open("/proc/stat") as f:
        ticks = [int(word) for word in f.readline().split()[1:9]]
    second = os.sysconf("SC_CLK_TCK")
    idle = ticks[3] + ticks[4]
    return (sum(ticks) - idle) / second, sum(ticks) / second


def our_seconds():
    """of processor time, of what this test ran and waited for"""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF,
                                                resource.RUSAGE_CHILDREN)]
    return sum(u.ru_utime + u.ru_stime for u in used)


def crowd_once(small, crowd):
    """(samples, unknown, lost) while thousands of processes come and go, and
    what share of the machine other programs had"""
    d = Daemon("crowd.db")
    machine, ours = machine_times(), our_seconds()
    before, lives = d.tell("status"), 0

    def some():
        """not so many at once that there is no room for what is told of them
        while other programs have all processors: each status makes room, and
        what is stored is not kept"""
        nonlocal lives
        subprocess.run([crowd, "200", small], check=True)
        lives += 200
        said = d.tell("status" if lives % 2000 else "flush")
        n = said["samples"] - before["samples"]
        return lives >= work(CROWD) and n > CROWD / 10

    until(some, 0)
    d.repeat(lambda: of_image(d.db, named("small")), crowd, "200", small)
    after = d.stop()
    busy, all_of_it = (b - a for a, b in zip(machine, machine_times()))
    others = (busy - (our_seconds() - ours)) / all_of_it
    return d, after, [after[k] - before[k] for k in ("samples", "unknown",
                                                     "lost")], others


def try_crowd():
    """No samples are lost, unless other programs have the processors for so
    long that there is no room for more. Then it is tried again, and five times
    are too many only if nobody else was there."""
    small = build("small", "-static", "tests/progs/sample/small.c")
    crowd = build("crowd", "tests/progs/sample/crowd.c")
    title = "thousands of short lives: nobody's samples are rare"
    for turn in range(5):
        if turn:
            shutil.rmtree(d.db)
        d, after, got, others = crowd_once(small, crowd)
        n, unknown, lost = got
        rare = not lost and unknown <= 0.0005 * n
        if rare:
            break
    if not rare and others > 0.25:
        tap.skip(title, "other programs had %.0f%% of the machine: %s" %
                 (100 * others, got))
    else:
        tap.ok(rare and n > CROWD / 10, title, got + [others])
    tap.ok(of_image(d.db, named("small")) > 0 and
           any(r["process"] == named("small") for r in rows(d.db, "process")),
           "and they have their images")
    if SANITIZED:
        tap.skip("in little memory", "sanitizers take more")
    else:
        tap.ok(after["memory_kb"] < 32 << 10, "in little memory", [after])


def try_kills():
    """at random moments, with a flush under way more often than not"""
    dice = random.Random(7)
    db, least, wrong = os.path.join(where, "kills"), 0, []
    for i in range(KILLS):
        d = Daemon("kills")
        told = d.tell("flush") if i % 2 else {}
        p = subprocess.Popen([TALLY, "daemon", "flush", "--db", db],
                             stdout=subprocess.DEVNULL,
                             stderr=subprocess.DEVNULL)
        time.sleep(dice.random() * 0.03)
        d.kill()
        p.wait()
        n = stored(db)
        least += told.get("samples", 0)
        if complaints(db) or n < least or "status" in told:
            wrong.append([i, n, least, told, d.first, complaints(db)])
        least = n
    tap.none(wrong, "killed %d times: whole, and nothing is lost that was "
             "flushed" % KILLS)


def fill(disk):
    with open(disk + "/filler", "wb", buffering=0) as f:
        while f.seek(0, 2) < 8 << 20:
            try:
                f.write(bytes(4 << 10))
            except OSError:
                break


def try_full():
    disk = os.path.join(where, "disk")
    with small_disk(tap, disk, "8m") as there:
        if not there:
            return
        d = Daemon("disk/db")
        fill(disk)
        with running(shares):
            until(lambda: d.tell("status").get("samples"))
        said = d.tell("flush")
        tap.ok(said.get("status") == 4 and "cannot be written" in said["err"],
               "a full disk: it says so", [said])
        said = d.tell("stop")
        tap.ok(said.get("status") == 4 and d.process.poll() is None,
               "and does not stop, which would lose samples", [said])
        said = d.tell("status")
        tap.ok(said.get("unstored", 0) > 0 and "cannot be written" in
               said.get("error", ""), "status tells of it", [said])
        os.unlink(disk + "/filler")
        said = d.stop()
        tap.ok(said.get("lost") == 0 and not complaints(d.db) and
               total(rows(d.db, "image")) >= said["samples"],
               "with room again nothing is lost", [said])


def try_full_epochs():
    """epochs that should end on a full disk: not at every look anew"""
    disk = os.path.join(where, "disk2")
    with small_disk(tap, disk, "8m") as there:
        if not there:
            return
        d = Daemon("disk2/db", "--epoch", "1")
        began = time.monotonic()
        fill(disk)
        until(lambda: "error" in d.tell("status"))
        for _ in range(4):  # each a look, and a second between them
            time.sleep(1)
            said = d.tell("status")
        # again after ten seconds, then twenty, and so on
        took = time.monotonic() - began
        most = sum(took >= 10 * (2 ** i - 1) for i in range(9))
        tap.ok(1 <= said.get("failed", 0) <= most and "cannot be written" in
               said.get("error", ""), "an epoch cannot end: it waits before "
               "it tries again", [said, took])
        os.unlink(disk + "/filler")
        said = d.tell("epoch")
        tap.ok("error" not in said and "failed" not in said and
               said["epoch"] > 1, "and ends when there is room", [said])
        d.tell("stop")
        err = d.process.communicate()[1]
        tap.ok(err.count("cannot be written") == 1, "it says so once", [err])


def strangers(program, number):
    """as many programs as no other test has, with names as long as can be"""
    folder = os.path.join(where, *["x" * 200] * 15)
    os.makedirs(folder, exist_ok=True)
    with open(program, "rb") as f:
        code = f.read()
    note = code.index(b"GNU\0") + 4  # its build-id follows
    for i in range(number):
        name = os.path.join(folder, "%032x" % random.getrandbits(128))
        with open(name, "wb") as f:
            f.write(code[:note] + os.urandom(20) + code[note + 20:])
        os.chmod(name, 0o700)
        yield name


def try_max_size():
    """any user can make the database grow; it stays as small as it should"""
    spin = build("spin", "-Wl,--build-id", "tests/progs/sample/spin.c")
    d = Daemon("bounded", "--max-size", "1", "--flush", "1")

    def some():
        for name in strangers(spin, 20):
            run(name)
            os.unlink(name)
        d.tell("flush")
        return asked(d.db, "SELECT min(id) > 3 FROM epoch")[0][0]

    until(some, 0)
    size = os.path.getsize(file_of(d.db))
    tap.ok(size < 2 << 20, "a database keeps to its size", [size])
    tap.none(complaints(d.db), "and is whole")
    d.tell("stop")
    err = d.process.communicate()[1]
    tap.ok("--max-size" in err, "it says so", [err])


def try_clock():
    shim = build("jumps.so", "-shared", "-fPIC",
                 "tests/progs/sample/jumps.c")
    began = time.monotonic()
    # a sanitizer wants to be loaded before anything else
    d = Daemon("clock", env={"ASAN_OPTIONS": "verify_asan_link_order=0",
                             **os.environ, "LD_PRELOAD": shim})
    for _ in range(3):
        d.tell("epoch")
    d.stop()
    epochs = asked(d.db, "SELECT start, end FROM epoch")
    took = time.monotonic() - began
    tap.ok(len(epochs) == 4 and all(0 <= b - a <= took + 1 for a, b in epochs),
           "a clock that goes back: epochs last as long as they did",
           [epochs, took])


def try_broken():
    db = os.path.join(where, "broken")
    os.mkdir(db)
    d = Daemon("whole")
    d.stop()
    name = os.path.basename(file_of(d.db))
    path = os.path.join(db, name)
    whole = open(file_of(d.db), "rb").read()
    for title, data, change in (
            ("something else", b"x" * 5000, None),
            ("of another version", whole, "PRAGMA user_version = 99"),
            ("half of one", whole[:len(whole) // 2], None),
            # tables are there, but not all that is in them
            ("one with a hole", whole[:-8192] + bytes(8192), None),
            ("of another host", whole, "UPDATE host SET name = 'far.away'"),
            ("of another machine", whole, "UPDATE host SET machine = 'vax'")):
        with open(path, "wb") as f:
            f.write(data)
        if change:
            c = sqlite3.connect(path)
            c.execute(change)
            c.commit()
            c.close()
        before = open(path, "rb").read()
        for word in ("run", "start"):
            status, _, err = tally("daemon", word, "--db", db)
            tap.ok(status == 3 and name in err and
                   open(path, "rb").read() == before,
                   "%s: the database is %s: refused, and left alone" %
                   (word, title), [status, err])


def try_who():
    """others may neither ask it nor have one"""
    if os.geteuid():
        tap.skip("as nobody", "not root")
        return
    os.chmod(where, 0o755)
    d = Daemon("whose")
    os.chmod(d.db, 0o777)
    os.chmod(file_of(d.db) + ".socket", 0o666)
    for word in ("status", "stop", "flush", "epoch"):
        said = d.tell(word, preexec_fn=drop)
        tap.ok(said.get("status") == 4 and "ermi" in said["err"],
               "nobody may not say " + word, [said])
    tap.ok(d.tell("status").get("pid") == d.process.pid, "it has not noticed")
    d.stop()
    home = os.path.join(where, "nobody")
    os.mkdir(home)
    os.chown(home, NOBODY, NOBODY)
    status, _, err = tally("daemon", "run", "--db", home + "/db",
                           preexec_fn=drop)
    paranoid = int(open("/proc/sys/kernel/perf_event_paranoid").read())
    if paranoid <= 0:
        tap.skip("nobody has no daemon", "he may")
        return
    tap.ok(status == 4 and "perf_event_paranoid" in err and
           "tally record" in err, "nobody has no daemon, and knows why",
           [status, err])


def try_misuse():
    for words in ([], ["walk"], ["run", "stop"], ["run", "--rate", "0"],
                  ["run", "--rate", "x"], ["run", "--flush", "0"],
                  ["run", "--epoch", "-1"], ["run", "--what"],
                  ["run", "--source", "bfp"], ["run", "--event", "cyclos"],
                  ["run", "--event", "cpu-clock,cpu-clock"],
                  ["run", "--event", ""], ["run", "--event", "cpu-clock:0"],
                  ["run", "--event", "cpu-clock:1e3"],
                  ["run", "--event", "cpu-clock:9999"],
                  ["run", "--event", "cpu-clock,task-clock,page-faults,"
                   "minor-faults,major-faults,context-switches,"
                   "cpu-migrations,alignment-faults,emulation-faults"],
                  ["run", "--db", ""]):
        status, out, err = tally("daemon", *words)
        tap.ok(status == 2 and err and not out,
               "misuse: " + " ".join(words), [status, out, err])
    status, _, err = tally("daemon", "run", "--db", "/proc/nowhere")
    tap.ok(status == 4 and "/proc/nowhere" in err,
           "where nothing can be made", [status, err])


def may_bpf():
    d = Daemon("may", "--source", "bpf")
    said = d.stop()
    if "status" in said:
        tap.skip("samples counted by the kernel", "BPF is not allowed here")
    return "status" not in said


def try_sources():
    """two daemons at once see the same"""
    if not may_bpf():
        return
    daemons = [Daemon("one", "--source", "rings"),
               Daemon("other", "--source", "bpf", "--steady", "--apart",
                      named("shares"))]
    with running(shares):
        until(lambda: all(sum(d.procedures(named("shares")).values()) > 5000
                          for d in daemons))
    said = [d.stop() for d in daemons]
    lost = sum(x["lost"] for x in said)
    tap.ok([x["source"] for x in said] == ["rings", "bpf, steady"],
           "status: where samples are from", said)
    # of a program that goes on: others may be gone before they are looked at
    images = rows(daemons[1].db, "image", "--process", named("shares"))
    unknown = total(r for r in images if r["image"] == "[unknown]")
    tap.ok(total(images) > 5000 and not unknown and not said[1]["lost"],
           "all are attributed, none is lost", [said, images])
    a, b = (procedures(d.db, named("shares")) for d in daemons)
    for name in "three_quarters", "one_quarter":
        n = a.get(name, 0) + b.get(name, 0)
        tap.ok(is_share(a.get(name, 0), n, 0.5, lost),
               name + ": as many by either", [a, b])
    for by in "image", "process":
        a, b = (total(r for r in rows(d.db, by) if r[by] == named("shares"))
                for d in daemons)
        tap.ok(is_share(a, a + b, 0.5, lost), "by %s, too" % by, [a, b])


def favour():
    """preexec_fn: others on this machine have less of it, if we may"""
    with contextlib.suppress(PermissionError):
        os.nice(-10)


class Sampled:
    """shares, that runs, and is sampled in bursts: it knows how far from what
    they should be numbers of samples may be, by chance"""

    def __init__(self, daemon):
        self.daemon = daemon
        _, took = timed(shares, "100")
        self.turn = took / 100  # seconds of CPU time of both procedures

    def run(self, enough):
        """until enough() is true"""
        began = time.monotonic()
        with running(shares, preexec_fn=favour) as p:
            until(lambda: self.look(p.pid, began) or enough())

    def look(self, pid, began):
        self.got = self.daemon.procedures(named("shares"))
        self.n = max(1, sum(self.got.values()))
        self.used = ran(pid)
        self.alone = min(1, self.used / (time.monotonic() - began))

    def number_off(self):
        """where other programs run, too, a burst meets this one or does not;
        the first and the last one may not be whole"""
        clusters = self.n / IN_BURST
        return DEVIATIONS * math.sqrt((1 - self.alone) / clusters) + \
            2 / clusters

    def share_off(self):
        """both procedures run in turn: samples of one turn are a cluster"""
        cluster = max(1, min(IN_BURST, 10 * RATE * self.turn))
        return chance(self.n, 0.75, cluster) / self.n


def timed(*words):
    """(status, seconds of CPU time) of a program"""
    p = subprocess.Popen(words, stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(p.pid, 0)
    p.returncode = os.waitstatus_to_exitcode(status)
    return p.returncode, used.ru_utime + used.ru_stime


def try_bursts():
    if not may_bpf():
        return
    d = Daemon("bursts", "--source", "bpf", "--bursts")
    x = Sampled(d)
    x.run(lambda: x.number_off() < 0.5 and x.share_off() < 0.2)
    said = d.stop()
    tap.ok(said["source"] == "bpf, in bursts", "bursts: status", [said])
    tap.ok(abs(x.n / x.used / RATE - 1) < x.number_off(), "bursts: as many "
           "samples as asked for", [x.n, x.used, x.alone, x.number_off()])
    tap.ok(abs(x.got.get("three_quarters", 0) / x.n - 0.75) < x.share_off(),
           "bursts: where the time goes", [x.got, x.share_off()])
    # its own work is not in a burst, where it would count ten times
    own = total(r for r in rows(d.db, "process") if r["pid"] == said["pid"])
    tap.ok(own / RATE < 3 * said["cpu_us"] / 1e6,
           "bursts: the daemon takes no more time than it does", [own, said])


def try_phases():
    """bursts keep no step with who is as regular as they are on average"""
    if not may_bpf():
        return
    prog = build("phases", "tests/progs/sample/phases.c")
    daemons = [Daemon("phased" + how, "--source", "bpf", how)
               for how in ("--bursts", "--steady")]
    daemons[0].sample(50 * IN_BURST, prog, preexec_fn=favour)
    for d in daemons:
        d.stop()
    got = [procedures(d.db, named("phases")) for d in daemons]
    n = [sum(x.values()) for x in got]
    share = [x.get("first_phase", 0) / max(1, sum(x.values())) for x in got]
    # each burst is in one phase or the other; those in step would all be in
    # one
    tap.ok(abs(share[0] - share[1]) <= chance(n[0], 0.5, IN_BURST) / n[0],
           "bursts: each phase has its part", [share, n])


def woken(pid):
    """how often a process has waited for something"""
    text = open("/proc/%d/status" % pid).read()
    return int(re.search(r"^voluntary_ctxt_switches:\s+(\d+)", text,
                         re.M).group(1))


def wakes(pid, n):
    """how often it is woken in a second, until it was so often"""
    began, before = time.monotonic(), woken(pid)
    until(lambda: woken(pid) >= before + n)
    return (woken(pid) - before) / (time.monotonic() - began)


def try_wakes():
    """the kernel ends bursts: nobody is woken for that"""
    release = tuple(map(int, re.findall(r"\d+", os.uname().release)[:2]))
    if release < (6, 10):
        tap.skip("bursts that end by themselves", "the kernel is too old")
        return
    if not may_bpf():
        return
    d = Daemon("woken", "--source", "bpf", "--bursts")
    # five bursts a second; to end each would be five more. There may be more
    # for a while: what was late is made good, and other programs that begin
    # and end are told of
    rate = []
    while not rate or rate[-1] > 8 and len(rate) < 40:
        rate.append(wakes(d.process.pid, 12))
    d.stop()
    tap.ok(rate[-1] <= 8, "bursts: woken once for each", [rate])


def try_silent():
    """who connects and says nothing makes no burst longer"""
    if not may_bpf():
        return
    d = Daemon("silent", "--source", "bpf", "--bursts")
    began = d.tell("status")["samples"]
    hung = []
    for _ in range(3):
        hung.append(socket.socket(socket.AF_UNIX))
        hung[-1].connect(glob.glob(d.db + "/*.socket")[0])
    said = d.tell("status")
    hung[-1].setblocking(False)
    try:
        there = hung[-1].recv(1) != b""
    except BlockingIOError:
        there = True
    tap.ok(there and said.get("pid") == d.process.pid,
           "others do not wait for it", [said])
    descriptors = "/proc/%d/fd" % d.process.pid
    before = len(os.listdir(descriptors))
    for _ in range(100):
        hung.append(socket.socket(socket.AF_UNIX))
        hung[-1].connect(glob.glob(d.db + "/*.socket")[0])
    said = d.tell("status")
    tap.ok(said.get("pid") == d.process.pid and
           len(os.listdir(descriptors)) <= before + 16,
           "a hundred of them: a few are kept, and others are served",
           [said, before, len(os.listdir(descriptors))])
    hung[-1].sendall(b"status")
    tap.ok(b"samples" in hung[-1].recv(1000), "who speaks late has his answer")
    said = d.stop()
    # a second has five bursts, and two more if they were late before
    most = os.cpu_count() * RATE * (said["seconds"] + 1)
    tap.ok(said["samples"] - began < 1.4 * most, "a client that says nothing: "
           "no more samples than asked for", [began, said])


def try_removed():
    """its database is removed: it ends, and leaves the next one alone"""
    first = Daemon("removed", "--flush", "1")
    shutil.rmtree(first.db)
    second = Daemon("removed")
    err = first.process.communicate()[1]
    tap.ok(first.process.returncode == 4 and "was removed" in err,
           "a database that is removed ends its daemon",
           [first.process.returncode, err])
    said = second.stop()
    tap.ok("status" not in said, "and not the next one's socket", [said])


def try_fast_clock():
    """a period of a clock is a rate; bursts that cannot be are none"""
    if not may_bpf():
        return
    d = Daemon("fast", "--source", "bpf", "--event", "cpu-clock:50000")
    x = Sampled(d)
    x.run(lambda: x.n > 40000)
    said = d.stop()
    tap.ok(said["rate"] == 20000 and 0.5 < x.n / x.used / 20000 < 1.6,
           "a clock by its period: as many samples as that says",
           [x.n, x.used, said])


def no_bpf():
    """preexec_fn: what is left may use perf, but no BPF"""
    PR_CAPBSET_DROP, CAP_SYS_ADMIN, CAP_BPF = 24, 21, 39
    libc = ctypes.CDLL(None)
    libc.prctl(PR_CAPBSET_DROP, CAP_SYS_ADMIN, 0, 0, 0)
    libc.prctl(PR_CAPBSET_DROP, CAP_BPF, 0, 0, 0)


def try_refused():
    if not may_bpf():
        return
    d = Daemon("refused", preexec_fn=no_bpf)
    said = d.stop()
    tap.ok(said.get("source") == "rings" and
           "not permitted" in said.get("no_bpf", ""),
           "without BPF: the rings, and why", [said])
    status, _, err = tally("daemon", "run", "--source", "bpf", "--db",
                           os.path.join(where, "refused2"),
                           preexec_fn=no_bpf)
    tap.ok(status == 4 and "not permitted" in err,
           "who insists on it is told", [status, err])


def by_event(db, image, procedure):
    """{event: samples} of a procedure"""
    found = [r for r in rows(db, "procedure", "--image", image)
             if r["procedure"] == procedure]
    return found[0]["events"] if found else {}


def try_events():
    """each page that is touched is a fault, and each 64th of those a sample"""
    prog = build("faults", "tests/progs/sample/faults.c")
    d = Daemon("events", "--event", "cpu-clock,page-faults:64")
    tap.ok(d.tell("status").get("event") == "cpu-clock,page-faults",
           "status names both events", [d.tell("status")])
    times = d.repeat(lambda: by_event(d.db, named("faults"), "touch").get(
        "cpu-clock", 0), prog, str(work(200)))
    d.stop()
    got = by_event(d.db, named("faults"), "touch")
    want = times * work(200) * 1000 / 64
    tap.ok(abs(got.get("page-faults", 0) - want) < 0.1 * want and
           got.get("cpu-clock", 0) > 0, "two events at a time, each its own",
           [got, want])


def try_no_bursts():
    """what is no measure of time has no bursts: programs are slower in them,
    and have fewer page faults"""
    if not may_bpf():
        return
    prog = build("faults", "tests/progs/sample/faults.c")
    for words, source in (
            (["page-faults:64"], "bpf, steady"),
            (["cpu-clock"], "bpf, in bursts"),
            (["cpu-clock,page-faults:64", "--mux"], "bpf, steady"),
            (["cpu-clock,page-faults:64"], "bpf, time in bursts")):
        d = Daemon("burst" + str(len(source)), "--source", "bpf", "--bursts",
                   "--event", *words)
        if "time" in source:
            subprocess.run([prog, str(work(1000))], check=True)
        said = d.stop()
        tap.ok(said.get("source") == source, "bursts: " + " ".join(words),
               [said])
    got = by_event(d.db, named("faults"), "touch").get("page-faults", 0)
    want = work(1000) * 1000 / 64
    # 12 % less if the clock slowed it; a period varies by 3 %
    tap.ok(abs(got - want) < 0.07 * got, "as many page faults beside bursts "
           "as there were", [got, want])


def try_mux():
    prog = build("faults", "tests/progs/sample/faults.c")
    d = Daemon("mux", "--event", "cpu-clock,page-faults:64", "--mux")

    def both():
        got = by_event(d.db, named("faults"), "touch")
        return min(got.get("page-faults", 0), got.get("cpu-clock", 0)) > 50

    d.repeat(both, prog, str(work(100)))
    d.stop()
    tap.ok(both(), "one event after the other: both are seen",
           rows(d.db, "procedure", "--image", named("faults")))
    periods = dict(asked(d.db, "SELECT name, period FROM epoch_event JOIN "
                         "event ON event = id"))
    tap.ok(periods.get("page-faults") == 2 * 64,
           "a sample of those stands for twice as much", [periods])


def by_image(d, *words):
    """{image: samples}"""
    d.tell("flush")
    return {r["image"]: r["samples"] for r in rows(d.db, "image", *words)}


def try_apart():
    """a program of which more is known"""
    prog = build("chain0", "tests/progs/sample/chain.c")
    name = os.path.basename(prog)
    d = Daemon("apart", "--apart", name, "--apart", "nobody")
    d.repeat(lambda: of_image(d.db, name), prog)
    # others have some of the kernel, too
    until(lambda: by_image(d, "--process", name).get("[kernel]", 0) <
          by_image(d).get("[kernel]", 0))
    got, all_of = by_image(d, "--process", name), by_image(d)
    d.stop()
    own = [r["samples"] for r in rows(d.db, "process")
           if r["process"] == name]
    tap.ok(sum(got.values()) == sum(own) and got.get(name) ==
           all_of[name] and got.get("[kernel]", 0) < all_of["[kernel]"],
           "a process's own samples are kept apart", [got, own])
    status, _, err = tally("report", "--process", named("shares"), d.db)
    tap.ok(status == 3 and named("shares") in err, "another's are not",
           [status, err])


def try_made():
    """code that a program makes, and names"""
    prog = build("made", "tests/progs/sample/made.c")
    d = Daemon("made.db")
    with running(prog) as p:
        until(lambda: sum(names_of(d, p.pid).values()) > 300)
    os.unlink("/tmp/perf-%d.map" % p.pid)
    got = names_of(d, p.pid)
    d.stop()
    a, b = got.get("the first", 0), got.get("the second", 0)
    tap.ok(is_share(a, a + b, 0.75) and "gone" not in got,
           "code that was made has its names", [got])


def made_code(d):
    """rows of procedures that programs have made"""
    d.tell("flush")
    return rows_like(d.db, "?made *")


def names_of(d, pid):
    """{procedure: samples} of code that this process has made"""
    got = {}
    for r in made_code(d):
        if re.fullmatch(r"\[made (again )?by \S+ %d\]" % pid, r["image"]):
            got[r["procedure"]] = got.get(r["procedure"], 0) + r["samples"]
    return got


def run_dumped(d, prog):
    """each of its procedures runs until it has samples; {procedure: (samples,
    nanoseconds)}; what it tells of its code is gone then, but was open"""
    p = subprocess.Popen([prog], stdin=subprocess.PIPE, cwd=where, text=True,
                         stdout=subprocess.PIPE)
    for name, n in (("stays", 200), ("below", 100), ("above", 300),
                    ("stays", 300)):
        until(lambda: names_of(d, p.pid).get(name, 0) >= n)
        p.stdin.write("x")
        p.stdin.flush()
    out = p.communicate()[0]
    os.unlink(os.path.join(where, "jit-%d.dump" % p.pid))
    used = {}
    for name, t in re.findall(r"^(\w+) (\d+) ", out, re.M):
        used[name] = used.get(name, 0) + int(t)
    return names_of(d, p.pid), used


def try_dumped():
    """code that a program makes, and says when, one over another"""
    prog = build("dumped", "tests/progs/sample/dumped.c")
    d = Daemon("dumped.db")
    got, used = run_dumped(d, prog)
    said = d.stop()
    n, exact, lost = sum(got.values()), "bpf" not in OPTIONS, said["lost"]
    for name in "stays", "below", "above":
        share = used[name] / sum(used.values())
        few = got.get(name, 0) < share * n
        # counted ones do not say when they were so closely: those of a moment
        # in which one is loaded over another have no name
        tap.ok(is_share(got.get(name, 0), n, share, lost) or
               few and not exact, "code over other code: %s has its samples" %
               name, [got, used, lost])
    tap.ok(where not in said.get("names", ""), "nothing is wrong with it",
           [said])


def try_contained():
    """in a container it has another number, and its file has that"""
    if os.geteuid():
        tap.skip("code that is made in a container", "not root")
        return
    tmp = os.path.join(where, "tmp")
    os.makedirs(tmp, exist_ok=True)
    build("tmp/made", "tests/progs/sample/made.c")
    apart = ["unshare", "-m", "-p", "-f", "--kill-child"]
    if subprocess.run([*apart, "mount", "--bind", tmp, "/tmp"]).returncode:
        tap.skip("code that is made in a container", "none can be had here")
        return
    d = Daemon("contained")

    def names():
        return {r["procedure"] for r in made_code(d)
                if r["image"].startswith("[made by %s " % named("made"))}

    with running(*apart, "sh", "-c",
                 "mount --bind %s /tmp && /tmp/%s" %
                 (tmp, named("made"))):
        until(lambda: {"the first", "the second"} <= names())
    tap.ok({"the first", "the second"} <= names(),
           "code that is made in a container has its names", [names()])
    d.stop()


def try_bad_dumps():
    """what a program says of its code is not believed: see record.t"""
    prog = build("baddump", "tests/progs/sample/baddump.c")
    d = Daemon("bad")
    # of others, too, if it is later
    d.repeat(lambda: where in d.tell("status").get("names", ""), prog, "huge",
             cwd=where)
    said = d.stop()
    tap.ok("jit-" in said.get("names", "") and "bytes" in said["names"],
           "status says what is wrong with a dump", [said])


def lie_of_cpus(path):
    """preexec_fn: the kernel's list of processors that are on is that file"""
    CLONE_NEWNS, MS_BIND, MS_PRIVATE = 0x20000, 0x1000, 0x44000
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(CLONE_NEWNS) or \
            libc.mount(b"none", b"/", None, MS_PRIVATE, None) or \
            libc.mount(path.encode(), b"/sys/devices/system/cpu/online",
                       None, MS_BIND, None):
        os._exit(4)


def try_cpus():
    """processors that go and come; here they only seem to"""
    if os.geteuid() or not {0, 1} <= os.sched_getaffinity(0):
        tap.skip("a processor that comes", "not root, or only one")
        return
    listed = os.path.join(where, "online")

    def list_cpus(text):
        with open(listed, "w") as f:
            f.write(text)

    list_cpus("0\n")
    d = Daemon("cpus", preexec_fn=lambda: lie_of_cpus(listed))
    seen = []
    for i, text in enumerate(("0\n", "0-1\n", "0\n", "0,1\n", "nonsense")):
        list_cpus(text)
        n = d.tell("status").get("cpus")
        name = named("pinned%d" % i)
        shutil.copy(shares, os.path.join(where, name))
        with running(os.path.join(where, name),
                     preexec_fn=lambda: os.sched_setaffinity(0, {1})) as p:
            until(lambda: ran(p.pid) > 0.2 and
                  (n == 1 or d.procedures(name)))
        d.tell("flush")
        seen.append((n, of_image(d.db, name) > 0))
    d.stop()
    tap.ok(seen == [(1, False), (2, True), (1, False), (2, True), (2, True)],
           "a processor that goes and comes", [seen])


def try_renamed():
    """a process that takes another name has it from then on"""
    d = Daemon("renamed")

    def names():
        d.tell("flush")
        return {r["process"] for r in rows(d.db, "process")}

    with running(sys.executable, "-c", "import ctypes\n"
                 "ctypes.CDLL(None).prctl(15, b'new name', 0, 0, 0)\n"
                 "while True: pass"):
        until(lambda: "new name" in names())
    tap.ok("new name" in names(), "a process that is renamed", [names()])
    d.stop()


# each with either source
SAMPLED = (try_shares, try_running, try_chain, try_again, try_reload,
           try_crowd, try_events, try_mux, try_made, try_dumped,
           try_contained, try_cpus, try_renamed)
TESTS = (try_words, try_start, try_kills, try_full, try_full_epochs,
         try_max_size, try_clock, try_broken, try_who, try_misuse, try_apart, try_sources,
         try_bursts, try_phases, try_wakes, try_silent, try_removed,
         try_fast_clock, try_no_bursts, try_refused,
         try_bad_dumps)
OPTIONS = []
with tempfile.TemporaryDirectory() as where:
    shares = build("shares", "tests/progs/sample/shares.c")
    if Daemon("probe").stop().get("status"):
        print("1..0 # SKIP this machine does not let us sample all of it")
        sys.exit(0)
    for test in TESTS:
        test()
    OPTIONS = ["--source", "rings"]
    for test in SAMPLED:
        test()
    OPTIONS = ["--source", "bpf", "--steady"]
    for test in SAMPLED if may_bpf() else ():
        test()
tap.done()
