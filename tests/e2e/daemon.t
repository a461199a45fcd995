#!/usr/bin/env python3
"""
daemon: samples of the whole system fall where its time goes, whoever lives how
short, under whatever number; its owner and nobody else tells it what to do;
there is one per file; and whatever ends it, its database is whole.
"""
import ctypes
import glob
import json
import math
import os
import random
import re
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
SANITIZED = b"__asan_init" in open(TALLY, "rb").read()
tap = Tap()


def build(name, *words):
    out = os.path.join(where, name)
    run("gcc", "-O1", "-o", out, *words)
    return out


class Daemon:
    """one that runs, into a database of its own"""

    def __init__(self, name, *words, **more):
        self.db = os.path.join(where, name + ".".join(OPTIONS))
        self.process = subprocess.Popen(
            [TALLY, "daemon", "run", "--db", self.db, *OPTIONS, *words],
            stderr=subprocess.PIPE, text=True, **more)
        self.first = self.process.stderr.readline()

    def tell(self, word, **more):
        status, out, err = tally("daemon", word, "--json", "--db", self.db,
                                 **more)
        return json.loads(out) if not status else {"status": status,
                                                   "err": err}

    def stop(self):
        """what it says of itself; it has ended then"""
        said = self.tell("stop")
        if "status" in said:
            self.process.kill()
        self.process.communicate()
        return said

    def kill(self):
        self.process.kill()
        self.process.communicate()


def of_image(db, name):
    return total(r for r in rows(db, "image") if r["image"] == name)


def stored(db):
    return asked(db, "SELECT total(count) FROM samples")[0][0]


def try_words():
    d = Daemon("words")
    tap.ok(d.first == "tally: sampling into %s, process %d\n" %
           (d.db, d.process.pid), "it says that it samples", [d.first])
    subprocess.run([shares, "30"], stdout=subprocess.DEVNULL)
    said = d.tell("status")
    tap.ok(said.get("pid") == d.process.pid and said["samples"] > 0 and
           said["unstored"] == said["samples"] and said["epoch"] == 1,
           "status: what it has", [said])
    tap.ok(not stored(d.db), "nothing is on disk yet")
    said = d.tell("flush")
    tap.ok(said.get("unstored") == 0 and
           total(rows(d.db, "image")) == said["samples"],
           "flush: now it is", [said])
    said = d.tell("epoch")
    tap.ok(said.get("epoch") == 2 and said["seconds"] <= 1,
           "epoch: another one", [said])
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
    for _ in range(500):
        if tally("daemon", "status", "--db", db)[0] == 4:
            break
        time.sleep(0.02)
    status, out, err = tally("report", "--by", "event", db)
    tap.ok(status == 0 and not complaints(db), "SIGTERM: it has written all",
           [status, err])


def try_shares():
    d = Daemon("shares.db")
    subprocess.run([shares, "400"], stdout=subprocess.DEVNULL)
    d.stop()
    got = {r["procedure"]: r["samples"] for r in
           rows(d.db, "procedure", "--image", "shares")}
    a, b = got.get("three_quarters", 0), got.get("one_quarter", 0)
    n = a + b
    # six deviations: one run in a billion is that far off
    tap.ok(n > 500 and abs(a - 0.75 * n) < 6 * math.sqrt(n * 0.75 * 0.25),
           "shares are those of the work", ["%d and %d samples" % (a, b)])
    names = {by: total(rows(d.db, by)) for by in
             ("image", "procedure", "instruction", "process", "event")}
    tap.ok(len(set(names.values())) == 1, "every listing adds up to the same",
           [names])
    images = {r["image"] for r in rows(d.db, "image")}
    tap.ok("[kernel]" in images and "shares" in images,
           "the kernel is there, too", [images])
    tap.none([r for r in rows(d.db, "process") if r.get("pid") == 0],
             "who is idle has no samples")


def try_running():
    """a program that ran before the daemon did"""
    p = subprocess.Popen([shares, "1000000"], stdout=subprocess.DEVNULL)
    d = Daemon("running")
    time.sleep(0.7)
    said = d.stop()
    p.kill()
    p.wait()
    tap.ok(said.get("samples") == stored(d.db),
           "what it tells at its end is all that it has", [said, stored(d.db)])
    tap.ok(of_image(d.db, "shares") > 100,
           "who ran already is known", [rows(d.db, "image")[:5]])


def try_chain():
    names = ["chain%d" % i for i in range(4)]
    progs = [build(n, "tests/progs/sample/chain.c") for n in names]
    d = Daemon("chain.db")
    subprocess.run(progs)
    d.stop()
    got = [of_image(d.db, n) for n in names]
    # the same work in each: four deviations and what a busy machine adds
    mean = sum(got) / len(got)
    tap.ok(mean > 50 and all(abs(g - mean) < 0.2 * mean + 4 * math.sqrt(mean)
                             for g in got),
           "who executes another: each has its samples", [got])


def try_again():
    first = build("first", "tests/progs/sample/chain.c")
    second = build("second", "tests/progs/sample/chain.c")
    prog = build("again", "tests/progs/sample/again.c")
    d = Daemon("again.db")
    pid = run(prog, first, second).strip()
    d.stop()
    if not pid:
        tap.skip("a number that is used again", "never got it")
        return
    got = {r["process"]: r["samples"] for r in rows(d.db, "process")
           if str(r["pid"]) == pid}
    a, b = got.get("first", 0), got.get("second", 0)
    tap.ok(a > 50 and b > 50 and abs(a - b) < 0.2 * (a + b) +
           4 * math.sqrt(a + b), "a number that is used again: two processes",
           [got])
    tap.ok(of_image(d.db, "second") >= b * 0.9, "each with its own image",
           [rows(d.db, "image")[:6]])


def try_reload():
    libs = [build("lib%d.so" % i, "-shared", "-fPIC",
                  "tests/progs/sample/work.c") for i in range(3)]
    prog = build("reload", "tests/progs/sample/reload.c", "-ldl")
    d = Daemon("reload.db")
    subprocess.run([prog, *libs], stdout=subprocess.DEVNULL)
    d.stop()
    got = {r["image"]: r["samples"] for r in rows(d.db, "procedure")
           if r["procedure"] == "work"}
    if "bpf" in OPTIONS:
        # ten milliseconds each: it does not say when it was so closely
        unknown = of_image(d.db, "[unknown]")
        tap.ok(unknown > 5 * sum(got.values()), "libraries in the place of "
               "others are not mistaken for one another", [got, unknown])
        return
    tap.ok(len(got) == 3 and min(got.values()) > 0.2 * sum(got.values()),
           "libraries in the place of others are told apart", [got])


def try_crowd():
    small = build("small", "-static", "tests/progs/sample/small.c")
    crowd = build("crowd", "tests/progs/sample/crowd.c")
    d = Daemon("crowd.db")
    before = d.tell("status")
    subprocess.run([crowd, str(CROWD), small], check=True)
    after = d.stop()
    n, unknown, lost = (after[k] - before[k] for k in
                        ("samples", "unknown", "lost"))
    tap.ok(n > CROWD / 10 and unknown <= 0.0005 * n and lost == 0,
           "%d short lives: nobody's samples are rare" % CROWD,
           [n, unknown, lost])
    tap.ok(of_image(d.db, "small") > 0 and
           any(r["process"] == "small" for r in rows(d.db, "process")),
           "and they have their images")
    if SANITIZED:
        tap.skip("in little memory", "sanitizers take more")
    else:
        tap.ok(after["memory_kb"] < 32 << 10, "in little memory", [after])


def try_kills():
    """at random moments, with a flush under way more often than not"""
    dice = random.Random(7)
    db, least, wrong = os.path.join(where, "kills"), 0, []
    load = subprocess.Popen([shares, "100000000"], stdout=subprocess.DEVNULL)
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
            wrong.append([i, n, least, told, complaints(db)])
        least = n
    load.kill()
    load.wait()
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
        subprocess.run([shares, "20"], stdout=subprocess.DEVNULL)
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
        fill(disk)
        for _ in range(600):
            said = d.tell("status")
            if "error" in said:
                break
            time.sleep(0.1)
        for _ in range(6):  # each a look, and a second between them
            time.sleep(1)
            said = d.tell("status")
        tap.ok(1 <= said.get("failed", 0) <= 2 and "cannot be written" in
               said.get("error", ""), "an epoch cannot end: it waits before "
               "it tries again", [said])
        os.unlink(disk + "/filler")
        said = d.tell("epoch")
        tap.ok("error" not in said and "failed" not in said and
               said["epoch"] > 1, "and ends when there is room", [said])
        d.tell("stop")
        err = d.process.communicate()[1]
        tap.ok(err.count("cannot be written") == 1, "it says so once", [err])


def try_clock():
    shim = build("jumps.so", "-shared", "-fPIC",
                 "tests/progs/sample/jumps.c")
    # a sanitizer wants to be loaded before anything else
    d = Daemon("clock", env={"ASAN_OPTIONS": "verify_asan_link_order=0",
                             **os.environ, "LD_PRELOAD": shim})
    for _ in range(3):
        d.tell("epoch")
    d.stop()
    epochs = asked(d.db, "SELECT start, end FROM epoch")
    tap.ok(len(epochs) == 4 and all(0 <= b - a < 60 for a, b in epochs),
           "a clock that goes back: epochs last as long as they did", epochs)


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
               Daemon("other", "--source", "bpf", "--steady")]
    subprocess.run([shares, "2000"], stdout=subprocess.DEVNULL)
    said = [d.stop() for d in daemons]
    tap.ok([x["source"] for x in said] == ["rings", "bpf, steady"],
           "status: where samples are from", said)
    tap.ok(said[1]["unknown"] <= 0.0005 * said[1]["samples"] and
           not said[1]["lost"], "all are attributed, none is lost", said)
    a, b = ({r["procedure"]: r["samples"] for r in
             rows(d.db, "procedure", "--image", "shares")} for d in daemons)
    for name in "three_quarters", "one_quarter":
        n = a.get(name, 0) + b.get(name, 0)
        tap.ok(n > 1000 and abs(a[name] - b[name]) < 0.03 * n +
               6 * math.sqrt(n), name + ": as many by either", [a, b])
    for by in "image", "process":
        a, b = (total(rows(d.db, by)) for d in daemons)
        tap.ok(abs(a - b) < 0.05 * (a + b), "by %s, too" % by, [a, b])


def try_bursts():
    if not may_bpf():
        return
    d = Daemon("bursts", "--source", "bpf", "--bursts")
    before = os.times()
    subprocess.run([shares, "9000"], stdout=subprocess.DEVNULL)
    after = os.times()
    said = d.stop()
    used = after.children_user - before.children_user
    got = {r["procedure"]: r["samples"] for r in
           rows(d.db, "procedure", "--image", "shares")}
    n = sum(got.values())
    tap.ok(said["source"] == "bpf, in bursts", "bursts: status", [said])
    # some thirty of them, or a hundred; their pauses are random
    tap.ok(0.5 < n / used / 5200 < 1.6, "bursts: as many samples as asked for",
           [n, used])
    tap.ok(abs(got.get("three_quarters", 0) / n - 0.75) < 0.1,
           "bursts: where the time goes", [got])
    # its own work is not in a burst, where it would count ten times
    own = total(r for r in rows(d.db, "process") if r["pid"] == said["pid"])
    tap.ok(own / 5200 < 3 * said["cpu_us"] / 1e6,
           "bursts: the daemon takes no more time than it does", [own, said])


def try_phases():
    """bursts keep no step with who is as regular as they are on average"""
    if not may_bpf():
        return
    prog = build("phases", "tests/progs/sample/phases.c")
    daemons = [Daemon("phased" + how, "--source", "bpf", how)
               for how in ("--bursts", "--steady")]
    subprocess.run([prog, "10"], stdout=subprocess.DEVNULL)
    for d in daemons:
        d.stop()
    share = []
    for d in daemons:
        got = {r["procedure"]: r["samples"] for r in
               rows(d.db, "procedure", "--image", "phases")}
        share.append(got.get("first_phase", 0) / max(1, sum(got.values())))
    # of fifty bursts, each in one phase or the other: four deviations. Those
    # in step would all be in one
    tap.ok(abs(share[0] - share[1]) < 0.28, "bursts: each phase has its part",
           [share])


def woken(pid):
    """how often a process has waited for something"""
    text = open("/proc/%d/status" % pid).read()
    return int(re.search(r"^voluntary_ctxt_switches:\s+(\d+)", text,
                         re.M).group(1))


def try_wakes():
    """the kernel ends bursts: nobody is woken for that"""
    release = tuple(map(int, re.findall(r"\d+", os.uname().release)[:2]))
    if release < (6, 10):
        tap.skip("bursts that end by themselves", "the kernel is too old")
        return
    if not may_bpf():
        return
    d = Daemon("woken", "--source", "bpf", "--bursts")
    began, before = time.monotonic(), woken(d.process.pid)
    time.sleep(4)
    took, n = time.monotonic() - began, woken(d.process.pid) - before
    d.stop()
    # five bursts a second; to end each would be five more
    tap.ok(2 <= n / took <= 8, "bursts: woken once for each", [n, took])


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
    most = os.cpu_count() * 5200 * (said["seconds"] + 1)
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
    before = os.times()
    subprocess.run([shares, "3000"], stdout=subprocess.DEVNULL)
    after = os.times()
    said = d.stop()
    used = after.children_user - before.children_user
    n = of_image(d.db, "shares")
    tap.ok(said["rate"] == 20000 and 0.5 < n / used / 20000 < 1.6,
           "a clock by its period: as many samples as that says",
           [n, used, said])


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
    subprocess.run([prog, "200"], check=True)
    d.stop()
    got, want = by_event(d.db, "faults", "touch"), 200 * 1000 / 64
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
            subprocess.run([prog, "2000"], check=True)
        said = d.stop()
        tap.ok(said.get("source") == source, "bursts: " + " ".join(words),
               [said])
    got = by_event(d.db, "faults", "touch").get("page-faults", 0)
    # 12 % less if the clock slowed it; a period varies by 3 %
    tap.ok(abs(got - 2000 * 1000 / 64) < 0.07 * got, "as many page faults "
           "beside bursts as there were", [got, 2000 * 1000 / 64])


def try_mux():
    prog = build("faults", "tests/progs/sample/faults.c")
    d = Daemon("mux", "--event", "cpu-clock,page-faults:64", "--mux")
    began = time.monotonic()
    while time.monotonic() - began < 5:
        subprocess.run([prog, "100"], check=True)
    d.stop()
    got = by_event(d.db, "faults", "touch")
    tap.ok(got.get("page-faults", 0) > 50 and got.get("cpu-clock", 0) > 50,
           "one event after the other: both are seen", [got])
    periods = dict(asked(d.db, "SELECT name, period FROM epoch_event JOIN "
                         "event ON event = id"))
    tap.ok(periods.get("page-faults") == 2 * 64,
           "a sample of those stands for twice as much", [periods])


def try_apart():
    """a program of which more is known"""
    prog = build("chain0", "tests/progs/sample/chain.c")
    d = Daemon("apart", "--apart", "chain0", "--apart", "nobody")
    subprocess.run([prog])
    d.stop()
    got = {r["image"]: r["samples"] for r in
           rows(d.db, "image", "--process", "chain0")}
    all_of = {r["image"]: r["samples"] for r in rows(d.db, "image")}
    own = [r["samples"] for r in rows(d.db, "process")
           if r["process"] == "chain0"]
    tap.ok(sum(got.values()) == sum(own) and got.get("chain0") ==
           all_of["chain0"] and got.get("[kernel]", 0) < all_of["[kernel]"],
           "a process's own samples are kept apart", [got, own])
    status, _, err = tally("report", "--process", "shares", d.db)
    tap.ok(status == 3 and "shares" in err, "another's are not",
           [status, err])


def try_made():
    """code that a program makes, and names"""
    prog = build("made", "tests/progs/sample/made.c")
    d = Daemon("made.db")
    pid = run(prog).split()[0]
    d.stop()
    os.unlink("/tmp/perf-%s.map" % pid)
    got = {r["procedure"]: r["samples"] for r in rows(d.db, "procedure")
           if r["image"] == "[made by made %s]" % pid}
    a, b = got.get("the first", 0), got.get("the second", 0)
    n = a + b
    tap.ok(n > 300 and abs(a - 0.75 * n) < 6 * math.sqrt(n * 0.75 * 0.25) and
           "gone" not in got, "code that was made has its names", [got])


def run_dumped(prog):
    """its number; what it tells of its code is gone, but was open"""
    pid = run(prog, cwd=where).split()[0]
    os.unlink(os.path.join(where, "jit-%s.dump" % pid))
    return pid


def try_dumped():
    """code that a program makes, and says when, one over another"""
    prog = build("dumped", "tests/progs/sample/dumped.c")
    d = Daemon("dumped.db")
    pid = run_dumped(prog)
    said = d.stop()
    got = {}
    for r in rows(d.db, "procedure"):
        if r["image"].endswith("by dumped %s]" % pid):
            got[r["procedure"]] = got.get(r["procedure"], 0) + r["samples"]
    stays, below, above = (got.get(n, 0) for n in ("stays", "below", "above"))
    # who is loaded over another has no name for a tenth of a second, at worst
    tap.ok(stays > 1000 and 0.1 < below / stays < 0.24 and
           0.5 < above / stays < 0.67, "code over other code: each has its "
           "samples", [got])
    tap.ok("names" not in said, "nothing is wrong with it", [said])


def try_contained():
    """in a container it has another number, and its file has that"""
    if os.geteuid():
        tap.skip("code that is made in a container", "not root")
        return
    tmp = os.path.join(where, "tmp")
    os.makedirs(tmp, exist_ok=True)
    build("tmp/made", "tests/progs/sample/made.c")
    d = Daemon("contained")
    p = subprocess.run(["unshare", "-m", "-p", "-f", "sh", "-c",
                        "mount --bind %s /tmp && /tmp/made 1200; true" % tmp],
                       capture_output=True, text=True)
    d.stop()
    if p.returncode or not p.stdout:
        tap.skip("code that is made in a container", "none can be had here")
        return
    names = {r["procedure"] for r in rows(d.db, "procedure")
             if r["image"].startswith("[made by made ")}
    tap.ok({"the first", "the second"} <= names,
           "code that is made in a container has its names", [names, p])


def try_bad_dumps():
    """what a program says of its code is not believed: see record.t"""
    prog = build("baddump", "tests/progs/sample/baddump.c")
    d = Daemon("bad")
    subprocess.run([prog, "huge"], cwd=where, check=True)
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
        name = "pinned%d" % i
        shutil.copy(shares, os.path.join(where, name))
        subprocess.run([os.path.join(where, name), "60"],
                       stdout=subprocess.DEVNULL,
                       preexec_fn=lambda: os.sched_setaffinity(0, {1}))
        d.tell("flush")
        seen.append((n, of_image(d.db, name) > 50))
    d.stop()
    tap.ok(seen == [(1, False), (2, True), (1, False), (2, True), (2, True)],
           "a processor that goes and comes", [seen])


def try_renamed():
    """a process that takes another name has it from then on"""
    d = Daemon("renamed")
    subprocess.run([sys.executable, "-c", "import ctypes\n"
                    "ctypes.CDLL(None).prctl(15, b'new name', 0, 0, 0)\n"
                    "sum(range(10000000))"], check=True)
    d.stop()
    names = {r["process"] for r in rows(d.db, "process")}
    tap.ok("new name" in names, "a process that is renamed", [names])


# each with either source
SAMPLED = (try_shares, try_running, try_chain, try_again, try_reload,
           try_crowd, try_events, try_mux, try_made, try_dumped,
           try_contained, try_cpus, try_renamed)
TESTS = (try_words, try_start, try_kills, try_full, try_full_epochs,
         try_clock, try_broken, try_who, try_misuse, try_apart, try_sources,
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
