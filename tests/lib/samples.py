"""samples: databases of samples, made and read by tests."""
import contextlib
import json
import os
import sqlite3
import subprocess

from patience import *

TALLY = os.path.abspath(os.environ.get("BUILD", "build") + "/tally")
NOBODY = 65534
folder = None  # where tally runs


def work_in(path):
    global folder
    folder = path


def tally(*words, **more):
    """(status, stdout, stderr)"""
    p = subprocess.run([TALLY, *words], capture_output=True, text=True,
                       cwd=folder, **more)
    return p.returncode, p.stdout, p.stderr


def rows(db, by, *words):
    status, out, err = tally("report", "--json", "--by", by, *words, db)
    return json.loads(out) if not status else [status, err]


def total(table):
    return sum(r["samples"] for r in table)


def procedures(db, image):
    """{procedure: samples} of an image"""
    return {r["procedure"]: r["samples"]
            for r in rows(db, "procedure", "--image", image)} \
        if of_image(db, image) else {}


def of_image(db, name):
    return total(r for r in rows(db, "image") if r["image"] == name)


class RunningDaemon:
    """a daemon that samples into a database of its own"""

    def __init__(self, db, *words, **more):
        self.db = db
        self.process = subprocess.Popen(
            [TALLY, "daemon", "run", "--db", db, *words],
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


def ran(pid):
    """seconds of CPU time that a process has had"""
    return int(open("/proc/%d/schedstat" % pid).read().split()[0]) / 1e9


@contextlib.contextmanager
def running(*words, **more):
    """a program that runs until it is killed"""
    p = subprocess.Popen(words, stdout=subprocess.DEVNULL, **more)
    try:
        yield p
    finally:
        p.kill()
        p.wait()


def file_of(db):
    """the one file of a database"""
    db = os.path.join(folder or "", db)
    (name,) = [n for n in os.listdir(db) if n.endswith(".tallydb")]
    return os.path.join(db, name)


def asked(db, text):
    """what the database itself says"""
    c = sqlite3.connect(file_of(db))
    found = c.execute(text).fetchall()
    c.close()
    return found


def stored(db):
    """samples that are in the database; 0 if it is not there yet"""
    try:
        return asked(db, "SELECT total(count) FROM samples")[0][0]
    except (OSError, ValueError, sqlite3.Error):
        return 0


def complaints(db):
    return [r[0] for r in asked(db, "PRAGMA integrity_check")
            if r[0] != "ok"]


def drop():
    """preexec_fn: as nobody"""
    os.setgroups([])
    os.setresgid(NOBODY, NOBODY, NOBODY)
    os.setresuid(NOBODY, NOBODY, NOBODY)


@contextlib.contextmanager
def small_disk(tap, path, size):
    """a file system of its own there; False: none is to be had"""
    os.mkdir(path)
    there = not os.geteuid() and not subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=" + size, "none",
         path]).returncode
    if not there:
        tap.skip("a full disk", "no mounts here")
    try:
        yield there
    finally:
        if there:
            subprocess.run(["umount", "-l", path])
