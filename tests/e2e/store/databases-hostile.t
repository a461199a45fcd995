#!/usr/bin/env python3
"""
databases-hostile: databases of samples that somebody has broken, or made to
mislead: other files and versions, tables that are missing, views that never
end, triggers, numbers that cannot be, sums that do not fit, runs that are
garbage, and thousands of single bytes that are wrong. Every command says what
is wrong, names the file, ends with status 3, and soon; none crashes.
"""
import glob
import os
import random
import shutil
import signal
import sqlite3
import sys
import tempfile

sys.path.insert(0, "tests/lib")
from answers import *
from samples import NOBODY, drop

MAKE_DB = os.path.join(os.path.dirname(TALLY), "tools/make-database")
COMMANDS = [["report"], ["report", "--by", "process"],
            ["report", "--by", "epoch"], ["annotate", "0x40"],
            ["graph", "--format", "dot", "0x40"], ["stats"],
            ["export", "--format", "json"],
            ["diff", "--all", "--epoch", "1", "--against", "last"]]
ENDLESS = ("WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) "
           "SELECT ")

BROKEN = [
    ("another version", ["PRAGMA user_version = 99"], "format 99"),
    ("a version that never was", ["PRAGMA user_version = 0"], "format 0"),
    ("a negative version", ["PRAGMA user_version = -1"], "format -1"),
    ("another's", ["PRAGMA application_id = 5"], "not one of tally's"),
    *(("without its " + table, ["DROP TABLE " + table], "table '%s'" % table)
      for table in ("host", "epoch", "event", "epoch_event", "image",
                    "samples", "process", "cost", "apart", "procedure",
                    "file")),
    ("with a column less", ["ALTER TABLE process DROP COLUMN count"],
     "table 'process'"),
    ("a view that never ends", [
        "DROP TABLE samples",
        "CREATE VIEW samples AS " + ENDLESS +
        "1 AS epoch, 1 AS image, 1 AS event, 1 AS count, x'' AS data FROM r"],
     "table 'samples'"),
    ("views of each other", [
        "DROP TABLE epoch", "CREATE VIEW epoch AS SELECT * FROM other",
        "CREATE VIEW other AS SELECT * FROM epoch"], "table 'epoch'"),
    ("a virtual table", [
        "DROP TABLE event",
        "CREATE VIRTUAL TABLE event USING fts4(id, name)"], "table 'event'"),
    ("a negative number of samples", ["UPDATE samples SET count = -5"],
     "'-5'"),
    ("samples by the word", ["UPDATE samples SET count = 'many'"], "'many'"),
    ("a negative number of samples of a process",
     ["UPDATE process SET count = -1"], "'-1'"),
    ("a negative period", ["UPDATE epoch_event SET period = -9"], "'-9'"),
    ("a negative loss", ["UPDATE epoch_event SET lost = -9"], "'-9'"),
    ("an epoch from before", ["UPDATE epoch SET start = -1"], "'-1'"),
    ("an epoch that never ends", ["UPDATE epoch SET end = 1e30"], "1.0e+30"),
    ("an epoch with a negative number", [
        "UPDATE epoch SET id = -1 WHERE id = 1",
        "UPDATE samples SET epoch = -1 WHERE epoch = 1",
        "UPDATE epoch_event SET epoch = -1 WHERE epoch = 1",
        "UPDATE process SET epoch = -1 WHERE epoch = 1"], "'-1'"),
    ("no epochs", ["DELETE FROM epoch"], "which is not there"),
    ("no events", ["DELETE FROM event"], "which is not there"),
    ("no images", ["DELETE FROM image"], "an image that is not there"),
    ("an image of no kind", ["UPDATE image SET kind = -7"], "'-7'"),
    *(("a file with a wrong " + column,
       ["INSERT INTO file SELECT id, 1, 1, 1, 1 FROM image",
        "UPDATE file SET %s = %s" % (column, value)], shown)
      for column, value, shown in (
          ("device", "-3", "'-3'"), ("inode", "'no'", "'no'"),
          ("size", "-4", "'-4'"), ("changed", "NULL", "time of a file"))),
    ("counts that do not agree", ["UPDATE samples SET count = count + 1"],
     "a run of"),
    ("garbage", ["UPDATE samples SET data = x'0102030405'"], "broken"),
    ("nothing instead of runs", ["UPDATE samples SET data = NULL"], "broken"),
    ("half a run", ["UPDATE samples SET data = substr(data, 1, 9)"],
     "broken"),
    ("text for a run", ["UPDATE samples SET data = 'samples'"], "broken"),
    ("many events", [
        "INSERT INTO event(name) " + ENDLESS + "'e' || n FROM r LIMIT 40",
        "INSERT INTO epoch_event SELECT 1, id, 1, 0 FROM event WHERE id > 1"],
     "more than 16 events"),
]

# these are strange, but nothing is wrong
STRANGE = [
    ("triggers", ["CREATE TRIGGER t AFTER INSERT ON epoch BEGIN DELETE "
                  "FROM samples; END"]),
    ("other tables", ["CREATE TABLE notes(text)",
                      "CREATE VIEW more AS SELECT * FROM more"]),
    ("names that are not text", ["UPDATE image SET path = x'ff00ff0a1b'",
                                 "UPDATE process SET name = x'1b5b'"]),
    ("no names", ["UPDATE image SET path = NULL", "UPDATE process SET "
                  "name = ''", "UPDATE epoch SET command = NULL"]),
    ("a long name", ["UPDATE image SET path = "
                     "printf('/%.*c', 100000, 'x')"]),
    ("a long build-id", ["UPDATE image SET build_id = zeroblob(5000)"]),
    ("a build-id that is text", ["UPDATE image SET build_id = 'id'"]),
    ("a time that no calendar has", ["UPDATE epoch SET start = 1 << 62, "
                                     "end = 5"]),
    ("a kind that is not known", ["UPDATE image SET kind = 77"]),
]


def make(t, name, big=False):
    """Two epochs; samples as many as there can be, if that is asked for."""
    text = ""
    for i in range(2):
        text += "epoch %d %d work\nevent cycles 9 0\nimage 0 /gone/x\n" % (
            1000 + i, 1100 + i)
        text += "hit 64 %d\n" % (2 ** 63 - 1 if big else 100)
        text += "" if big else "hit 128 3\nhit 0xfffffffffffffff0 2\n"
        text += "image 5 [unknown]\nhit 64 1\n" if not big else ""
        text += "process 5 x 105\n"
    subprocess.run([MAKE_DB, t.path(name)], input=text, text=True, check=True)
    (file,) = glob.glob(t.path(name) + "/*.tallydb")
    return file


def change(t, whole, statements):
    """A database with the changes; its file's name."""
    shutil.rmtree(t.path("broken"), ignore_errors=True)
    os.mkdir(t.path("broken"))
    path = os.path.join(t.path("broken"), os.path.basename(whole))
    shutil.copy(whole, path)
    c = sqlite3.connect(path)
    for s in statements:
        c.execute(s)
    c.commit()
    c.close()
    return os.path.basename(path)


def ask(t, command, db="broken"):
    try:
        return t.tally(*command, db)
    except subprocess.TimeoutExpired:
        return None, "", "did not end"


def looks(command, statements):
    """whether a command reads what these statements have spoiled: who does not
    look there need not see it"""
    text = " ".join(statements)
    of_processes = "UPDATE process SET" in text and "samples" not in text
    of_places = "FROM image" in text or "UPDATE image" in text or \
        "UPDATE file" in text or "SET data" in text or "count + 1" in text
    if "--by" not in command:
        return not of_processes
    return not of_places and (not of_processes or "process" in command)


def try_broken(t, whole):
    for title, statements, why in BROKEN:
        name = change(t, whole, statements)
        wrong = []
        for command in COMMANDS:
            status, out, err = ask(t, command)
            if status != 3 or out or name not in err or why not in err or \
                    err.count("\n") != 1:
                wrong.append([command, status, out[:200], err])
        wrong = [w for w in wrong if looks(w[0], statements)]
        t.ok(not wrong, "a database with " + title, wrong)


def try_strange(t, whole):
    for title, statements in STRANGE:
        change(t, whole, statements)
        wrong = []
        for command in COMMANDS:
            status, out, err = ask(t, command)
            if status not in (0, 1, 3) or "\x1b" in out + err:
                wrong.append([command, status, out[:200], err])
        status, out, err = ask(t, ["report", "--by", "image", "--json"])
        if status or sum(r["samples"] for r in json.loads(out)) != 212:
            wrong.append(["report", status, out, err])
        t.ok(not wrong, "a database with " + title, wrong)


def try_sums(t):
    """As many samples as a file can have, twice."""
    make(t, "big", big=True)
    got = t.parsed("report", "--by", "image", "--json", "--epoch", "1", "big")
    t.same([r["samples"] for r in got], [2 ** 63 - 1], "as many as there can "
           "be")
    got = t.parsed("report", "--by", "image", "--json", "big")
    t.same([r["samples"] for r in got], [2 ** 64 - 2], "twice that")
    t.same(t.tally("diff", "--epoch", "1", "--against", "2", "big")[0], 0,
           "compared")
    t.same(t.tally("stats", "big")[0], 0, "and their variation")
    subprocess.run([MAKE_DB, t.path("big")], input="epoch 1 2 x\nevent cycles "
                   "1 0\nimage 0 /gone/x\nhit 0 9\n", text=True, check=True)
    for command in (["report"], ["stats"], ["export", "--format", "tsv"]):
        t.refused(3, "more than 64 bits", *command, "big")


def try_files(t, whole):
    name = os.path.basename(whole)
    data = open(whole, "rb").read()
    path = os.path.join(t.path("broken"), name)
    for title, bytes_ in (("nothing", b""), ("half of it",
                                             data[:len(data) // 2]),
                          ("its first page", data[:4096]),
                          ("zeros", bytes(9000)), ("text", b"samples\n" * 99),
                          ("its beginning, and garbage",
                           data[:100] + random.Random(1).randbytes(9000))):
        with open(path, "wb") as f:
            f.write(bytes_)
        wrong = [[c, got] for c in COMMANDS for got in [ask(t, c)]
                 if got[0] != 3 or name not in got[2]]
        t.ok(not wrong, "a file that is " + title, wrong)
    os.remove(path)
    os.mkdir(path)
    t.refused(3, name, "report", "broken")
    os.rmdir(path)
    os.symlink("nowhere", path)
    t.refused(3, name, "report", "broken")


def try_bytes(t, whole):
    """Single bytes: right answers, or an error that names the file."""
    name = os.path.basename(whole)
    data = open(whole, "rb").read()
    path = os.path.join(t.path("broken"), name)
    rng = random.Random(7)
    # where something is, mostly: the rest of a page is empty
    used = [i for i, b in enumerate(data) if b]
    wrong, refused = [], 0
    if os.path.islink(path):
        os.remove(path)
    for i in range(MUTANTS):
        spoilt = bytearray(data)
        for _ in range(rng.choice((1, 1, 1, 3, 30))):
            at = rng.choice(used) if rng.random() < 0.9 else \
                rng.randrange(len(data))
            spoilt[at] = rng.randrange(256)
        with open(path, "wb") as f:
            f.write(spoilt)
        command = rng.choice(COMMANDS)
        status, out, err = ask(t, command)
        refused += status == 3
        if status not in (0, 1, 3) or (status == 3 and name not in err and
                                       "called" not in err and
                                       "drawn" not in err and
                                       "epoch" not in err and
                                       "two or more" not in err):
            wrong.append([i, command, status, err])
    t.ok(not wrong and refused > MUTANTS // 10,
         "%d databases with wrong bytes, %d of them refused" %
         (MUTANTS, refused), wrong)


def try_writing(t, whole):
    """Who records into a broken one is told so, and it stays as it is."""
    name = change(t, whole, ["DROP TABLE samples", "CREATE VIEW samples AS "
                             "SELECT 1"])
    path = os.path.join(t.path("broken"), name)
    before = open(path, "rb").read()
    p = subprocess.run([MAKE_DB, t.path("broken")], input="", text=True,
                       stderr=subprocess.PIPE)
    t.ok(p.returncode and "table 'samples'" in p.stderr and
         open(path, "rb").read() == before,
         "a broken database is not written to", [p.stderr])
    change(t, whole, ["CREATE TRIGGER t AFTER INSERT ON epoch BEGIN DELETE "
                      "FROM samples; END"])
    subprocess.run([MAKE_DB, t.path("broken")], input="epoch 5 6 x\n",
                   text=True, check=True)
    got = t.parsed("report", "--by", "image", "--json", "broken")
    t.same(sum(r["samples"] for r in got), 212, "triggers do nothing")


def kill_half_way(t, whole):
    """A database whose writer was killed in the middle of a commit."""
    name = change(t, whole, [])
    path = os.path.join(t.path("broken"), name)
    pid = os.fork()
    if not pid:
        c = sqlite3.connect(path, isolation_level=None)
        c.execute("PRAGMA cache_size = 1")  # what is changed goes to disk
        c.execute("BEGIN IMMEDIATE")
        c.execute("UPDATE samples SET data = zeroblob(50000)")
        os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(pid, 0)
    return os.path.exists(path + "-journal") and \
        open(path, "rb").read() != open(whole, "rb").read()


def try_half(t, whole):
    """What was written half way is undone by who reads it, if he may."""
    t.ok(kill_half_way(t, whole), "a writer is killed half way")
    if not os.geteuid():
        for path in (t.path(""), t.path("broken"),
                     *glob.glob(t.path("broken") + "/*")):
            os.chmod(path, 0o755)
        before = sorted(os.listdir(t.path("broken")))
        status, out, err = t.tally("report", "broken", preexec_fn=drop)
        t.ok(status == 3 and "cut short" in err and not out and
             sorted(os.listdir(t.path("broken"))) == before,
             "another user reads nothing, and is told why", [status, err])
        os.chown(os.path.join(t.path("broken"), os.path.basename(whole)),
                 NOBODY, NOBODY)
        status, out, err = t.tally("report", "broken")
        t.ok(status == 3 and "cut short" in err, "root does not write to a "
             "file of another's to read it", [status, err])
        kill_half_way(t, whole)
    got = t.parsed("report", "--by", "image", "--json", "broken")
    t.same(sum(r["samples"] for r in got), 212, "its owner has what was "
           "there before")


with tempfile.TemporaryDirectory() as where:
    tap = Asker(where)
    database = make(tap, "whole")
    try_broken(tap, database)
    try_strange(tap, database)
    try_sums(tap)
    try_files(tap, database)
    try_bytes(tap, database)
    try_writing(tap, database)
    try_half(tap, database)
tap.done()
