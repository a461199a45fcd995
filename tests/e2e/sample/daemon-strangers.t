#!/usr/bin/env python3
"""
daemon-strangers: what an unprivileged user may do to a daemon of root's and to
those who read its database: not end it, not take its memory, not stop it from
writing, not read what is of others, not hang a report, not give names to the
processes of others.
"""
import fcntl
import glob
import grp
import json
import os
import re
import shutil
import signal
import stat
import struct
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, "tests/lib")
from cfg_oracle import *
from patience import until
from samples import *

STARTS, NAMES, IMAGES, TEARS, LINES = 8, 300000, 20000, 200000, 210 << 20
SANITIZED = b"__asan_init" in open(TALLY, "rb").read()
tap = Tap()


class Daemon(RunningDaemon):
    """one of root's"""

    def __init__(self, name, *words, **more):
        super().__init__(os.path.join(where, name), *words, **more)

    def megabytes(self, what="VmRSS"):
        text = open("/proc/%d/status" % self.process.pid).read()
        return int(re.search(what + r":\s+(\d+)", text)[1]) >> 10

    def lives(self):
        return self.process.poll() is None


def stranger(*words):
    """a process of nobody's"""
    return subprocess.Popen([prog, *map(str, words)], preexec_fn=drop,
                            stdout=subprocess.PIPE, text=True, cwd=home)


def no_more_than(d, megabytes, what):
    if SANITIZED:
        tap.skip(what, "sanitizers take more")
    else:
        most = d.megabytes("VmHWM")
        tap.ok(d.lives() and most <= megabytes, what, ["%d MB" % most])


def given_back(d, before, what):
    d.tell("flush")
    d.tell("flush")
    if SANITIZED:
        tap.skip(what, "sanitizers keep more")
    else:
        tap.ok(d.megabytes() <= before + 8, what,
               ["%d MB, then %d" % (before, d.megabytes())])


def try_shrink():
    """files that are made short while a daemon looks at them"""
    they, died = [], 0
    for i in range(8):
        file = os.path.join(home, "shrinks%d" % i)
        shutil.copy(prog, file)
        os.chown(file, NOBODY, NOBODY)
        they.append(stranger("shrink", file))
        they[-1].stdout.readline()
    for i in range(STARTS):
        d = Daemon("shrink")
        died += "sampling" not in d.first or not d.lives()
        d.stop()
    for p in they:
        p.kill()
        p.communicate()
    tap.ok(not died, "files that become shorter do not end it",
           ["%d of %d" % (died, STARTS)])


def try_many(title, most, *words):
    d = Daemon(words[0])
    before = d.megabytes()
    p = stranger(*words)
    p.communicate()
    d.tell("status")
    tap.ok(p.returncode == 0 and d.lives(), title + ": it lives")
    no_more_than(d, most, title + ": in little memory")
    given_back(d, before, title + ": which it gives back")
    d.stop()


def try_grow():
    """a map of code that grows once it has been opened"""
    d = Daemon("grow")
    p = stranger("grow", LINES)
    p.stdout.readline()
    said = d.tell("flush")
    tap.ok(said.get("unstored") is not None,
           "a map of code that grows: it goes on", [said])
    no_more_than(d, 64, "a map of code that grows: in little memory")
    p.communicate()
    d.stop()


def try_dead_names():
    """nobody names the code of a process of root's that is gone"""
    made = build("made", "tests/progs/sample/made.c")
    d = Daemon("dead")
    p = subprocess.Popen([made])
    until(lambda: ran(p.pid) >= 1)
    p.kill()
    p.wait()
    path = "/tmp/perf-%d.map" % p.pid
    os.unlink(path)
    subprocess.run(["sh", "-c", "echo 0 ffffffffffff stolen > " + path],
                   preexec_fn=drop, check=True)
    d.tell("flush")
    d.stop()
    os.unlink(path)
    names = {r["procedure"] for r in rows(d.db, "procedure")}
    samples = total(r for r in rows(d.db, "process") if r["pid"] == p.pid)
    tap.ok(samples and "stolen" not in names, "a dead process of root's has "
           "no names of nobody's", [samples, names & {"stolen"}])


def try_sandbox():
    """who reads strangers' files has no privileges: it is caught in the act"""
    d = Daemon("sandbox")
    p = stranger("grow", LINES)
    p.stdout.readline()
    asking = subprocess.Popen([TALLY, "daemon", "flush", "--db", d.db],
                              stdout=subprocess.DEVNULL)
    found = {}
    for _ in range(20000):
        for child in open("/proc/%d/task/%d/children" %
                          (d.process.pid, d.process.pid)).read().split():
            try:
                text = open("/proc/%s/status" % child).read()
            except OSError:
                continue
            got = dict(re.findall(r"^(\w+):\s+(\S+)", text, re.M))
            if got.get("Seccomp") == "2":
                found = got
        if found or asking.poll() is not None:
            break
    asking.wait()
    p.kill()
    p.communicate()
    for path in glob.glob("/tmp/perf-%d.map" % p.pid):
        os.unlink(path)
    d.stop()
    tap.ok(found.get("Uid") == str(NOBODY) and found.get("NoNewPrivs") == "1"
           and int(found.get("CapEff", "1"), 16) == 0 and
           int(found.get("CapBnd", "1"), 16) == 0,
           "strangers' files are read without privileges", [found])


def try_locked():
    """a reader that holds every lock there is keeps nothing from being
    written"""
    d = Daemon("locked")
    held = os.open(file_of(d.db), os.O_RDONLY)
    fcntl.fcntl(held, fcntl.F_SETLK, struct.pack(
        "hhqqi", fcntl.F_RDLCK, 0, 0x40000000, 512, 0))
    said = d.tell("flush")
    tap.ok(said.get("unstored") == 0, "a reader that holds on: it is written "
           "all the same", [said])
    said = d.stop()
    os.close(held)
    tap.ok("status" not in said and not complaints(d.db),
           "and the database is whole", [said])


def try_private():
    """others read nothing; a group may"""
    d = Daemon("private", "--group", "games")
    modes = {p: (oct(stat.S_IMODE(os.stat(p).st_mode)), os.stat(p).st_gid)
             for p in (d.db, file_of(d.db))}
    d.stop()
    gid = grp.getgrnam("games").gr_gid
    tap.ok(list(modes.values()) == [("0o750", gid), ("0o640", gid)],
           "a database is for root and a group", [modes])
    status, out, err = tally("report", d.db, preexec_fn=drop)
    tap.ok(status == 3 and not out and "ermission" in err,
           "nobody may not read it", [status, out, err])

    def in_group():
        os.setgroups([gid])
        os.setresgid(NOBODY, NOBODY, NOBODY)
        os.setresuid(NOBODY, NOBODY, NOBODY)
    status, out, err = tally("report", "--by", "event", d.db,
                             preexec_fn=in_group)
    tap.ok(status == 0 and "samples" in out, "who is in the group may",
           [status, out, err])
    status, out, err = tally("daemon", "run", "--group", "no such", "--db",
                             d.db)
    tap.ok(status == 2 and "no such" in err, "a group that there is not",
           [status, err])


def try_links():
    """nothing is made through links, or where others may write"""
    for title, name in (("the file", ""), ("its lock", ".lock"),
                        ("its journal", "-journal"),
                        ("its writer's lock", ".writer")):
        db = os.path.join(where, "links" + name)
        os.mkdir(db)
        elsewhere = os.path.join(where, "elsewhere" + name)
        os.symlink(elsewhere, os.path.join(
            db, os.uname().nodename + ".tallydb" + name))
        status, _, err = tally("daemon", "run", "--db", db)
        tap.ok(status == 4 and err and not os.path.exists(elsewhere),
               title + " is a link: refused", [status, err])
    status, _, err = tally("daemon", "run", "--db", home)
    tap.ok(status == 4 and "others may write" in err and
           "tallydb" not in str(os.listdir(home)),
           "a directory of nobody's: refused", [status, err])


def try_stopped():
    """status of a daemon that is stopped says so, and does not hang"""
    d = Daemon("stopped")
    os.kill(d.process.pid, signal.SIGSTOP)
    said = d.tell("status")
    os.kill(d.process.pid, signal.SIGCONT)
    tap.ok(said.get("status") == 4 and "is stopped" in said["err"] and
           str(d.process.pid) in said["err"],
           "a daemon that is stopped: status says so", [said])
    d.stop()


def try_nohup():
    """signals that are ignored when it begins do not end it"""
    d = Daemon("nohup", preexec_fn=lambda: signal.signal(signal.SIGHUP,
                                                         signal.SIG_IGN))
    os.kill(d.process.pid, signal.SIGHUP)
    said = d.tell("status")
    tap.ok(said.get("pid") == d.process.pid and d.lives(),
           "nohup: SIGHUP is ignored", [said])
    d.stop()
    d = Daemon("hangup")
    os.kill(d.process.pid, signal.SIGHUP)
    d.process.communicate()
    tap.ok(d.process.returncode == 0, "without, it ends it, in order")


def try_host():
    """the host's name changes: its daemon is found all the same"""
    db = os.path.join(where, "named")
    d = subprocess.Popen(["unshare", "-u", "sh", "-c", "echo other-name > "
                          "/proc/sys/kernel/hostname && exec %s daemon run "
                          "--db %s" % (TALLY, db)], stderr=subprocess.PIPE,
                         text=True)
    first = d.stderr.readline()
    if "sampling" not in first:
        d.communicate()
        tap.skip("a host that has another name", "no namespaces here")
        return
    status, out, err = tally("daemon", "status", "--db", db)
    tap.ok(status == 0 and re.search(r"^pid +\d+$", out, re.M),
           "a host that has another name: its daemon is found",
           [status, out, err])
    tally("daemon", "stop", "--db", db)
    d.communicate()
    tap.ok(d.returncode == 0, "and stopped")


def try_deleted():
    """a program that was replaced before the daemon began: one build has one
    name, two have two"""
    old, new = (os.path.join(where, n) for n in ("replaced", "newer"))
    for out, seed in ((old, "1"), (new, "2")):
        run("gcc", "-O1", "-Wl,--build-id=0x" + 20 * seed, "-o", out,
            "tests/progs/sample/shares.c")
    they = [subprocess.Popen([old, "100000000"], stdout=subprocess.DEVNULL)]
    os.rename(new, old)
    they.append(subprocess.Popen([old, "100000000"],
                                 stdout=subprocess.DEVNULL))
    d = Daemon("deleted")
    while True:
        d.tell("flush")
        got = asked(d.db, "SELECT hex(build_id) FROM image JOIN samples ON "
                    "image = id WHERE path LIKE '%replaced%'")
        if len(got) > 1:
            break
    names = {p for p, in asked(d.db, "SELECT path FROM image WHERE path LIKE "
                               "'%replaced%'")}
    d.stop()
    for p in they:
        p.kill()
        p.wait()
    tap.ok(sorted(i for i, in got) == [20 * "1", 20 * "2"] and
           names == {old}, "a program that was replaced: two builds, by one "
           "path each", [got, names])


def try_log():
    """a daemon in the background says what happens to it"""
    db = os.path.join(where, "logged")
    status, out, err = tally("daemon", "start", "--db", db)
    tally("daemon", "stop", "--db", db)
    (log,) = glob.glob(db + "/*.log")
    text = open(log).read()
    tap.ok(re.search(r"^\d{4}-\d\d-\d\dT[\d:]+Z \d+ begins to sample$", text,
                     re.M) and "ends, as it is told to" in text,
           "start: a log", [status, err, text])
    tap.ok(stat.S_IMODE(os.stat(log).st_mode) == 0o640, "for its readers")


def build(name, *words):
    out = os.path.join(where, name)
    run("gcc", "-O1", "-o", out, *words)
    return out


TESTS = (try_shrink,
         lambda: try_many("%d names" % NAMES, 32, "names", NAMES),
         lambda: try_many("%d images" % IMAGES, 64, "images", home, IMAGES),
         lambda: try_many("%d mappings, one over another" % TEARS, 48, "tears",
                          home, TEARS),
         try_grow, try_dead_names, try_sandbox, try_locked, try_private,
         try_links, try_stopped, try_nohup, try_host, try_log,
         try_deleted)
if os.geteuid():
    print("1..0 # SKIP not root")
    sys.exit(0)
with tempfile.TemporaryDirectory() as where:
    os.chmod(where, 0o755)
    home = os.path.join(where, "home")
    os.mkdir(home)
    os.chown(home, NOBODY, NOBODY)
    prog = build("stranger", "tests/progs/sample/stranger.c")
    if Daemon("probe").stop().get("status"):
        print("1..0 # SKIP this machine does not let us sample all of it")
        sys.exit(0)
    for test in TESTS:
        test()
tap.done()
