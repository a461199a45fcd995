#!/usr/bin/env python3
"""
record: samples of a program fall where its time goes; nothing is lost and
nobody is mistaken for another, however short a process lives; the program and
who waits for it notice nothing; and a database survives its writer.
"""
import glob
import json
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile

sys.path.insert(0, "tests/lib")
from cfg_oracle import *
from samples import *

tap = Tap()


def build(name, *words):
    out = os.path.join(where, name)
    run("gcc", "-O1", "-o", out, *words)
    return out


def record(db, enough, *words, **more):
    """records the program into the database again and again, until enough()
    is true; (status, output, messages) of the last time"""
    last = []

    def once():
        last[:] = tally("record", "--quiet", "-o", db, *words, **more)
        return last[0] or enough()

    until(once, 0)
    return last


def same_run(name, *program):
    """the program prints and ends as it does without us"""
    plain = subprocess.run(program, capture_output=True, text=True,
                           cwd=where)
    code = plain.returncode if plain.returncode >= 0 else \
        128 - plain.returncode
    status, out, _ = tally("record", "--quiet", "-o", "same", "--", *program)
    tap.ok((status, out) == (code, plain.stdout), name,
           ["%r, not %r" % ((status, out), (code, plain.stdout))])


def sums(db, title):
    """all listings tell of the same samples"""
    n = {by: total(rows(db, by)) for by in
         ("image", "procedure", "line", "instruction", "process", "event")}
    tap.ok(len(set(n.values())) == 1 and n["image"], title, [n])
    return n["image"]


def hottest(prog):
    """what a record says at its end, once its samples are enough to say it"""
    status, _, err = tally("record", "-o", "shares.db", prog, "50")
    return err if status or "three_quarters" in err else ""


def try_shares():
    prog = build("shares", "-g", "tests/progs/sample/shares.c")

    def both():
        got = procedures("shares.db", "shares")
        return got.get("three_quarters", 0), got.get("one_quarter", 0)

    record("shares.db", lambda: sum(both()) > 500, prog, "50")
    a, b = both()
    tap.ok(is_share(a, a + b, 0.75), "shares are those of the work",
           ["%d and %d samples" % (a, b)])
    err = until(lambda: hottest(prog))
    tap.ok("three_quarters" in err, "what took most is shown",
           err.splitlines())
    sums("shares.db", "every listing adds up to the same")
    lines = {r.get("line") for r in rows("shares.db", "line",
                                         "--image", "shares")}
    want = {i + 1 for i, text in
            enumerate(open("tests/progs/sample/shares.c"))
            if text.startswith("WORK(")}
    tap.ok(lines >= want, "samples have lines", [lines, want])
    before = total(rows("shares.db", "image"))
    _, _, err = tally("record", "-o", "shares.db", "sleep", "0.1")
    tap.ok("three_quarters" not in err and "samples of" in err,
           "of a second record what took most is its own", [err])
    status, _, err = record("shares.db", lambda: total(rows(
        "shares.db", "image")) > before, prog, "20")
    tap.ok(status == 0, "another record is added to the first",
           [before, rows("shares.db", "image"), err])


def try_changed():
    """a program without a build-id that is made anew: neither has the
    names of the other"""
    source = os.path.join(where, "changing.c")
    names = "the_first_one", "another_one"
    for name in names:
        with open(source, "w") as f:
            f.write("volatile long n;\n"
                    "__attribute__((noinline)) void %s(void)\n"
                    "{ while (n < %d) n++; }\n"
                    "int main(void) { %s(); return 0; }\n" %
                    (name, work(50000000), name))
        prog = build("changing", "-Wl,--build-id=none", source)
        record("changing.db", lambda: name in procedures(
            "changing.db", "changing"), prog)
        status, out, err = tally("report", "--json", "changing.db",
                                 "--image", "changing")
        seen = {r["procedure"] for r in json.loads(out)} if not status else {}
        tap.ok(name in seen and not set(names) - {name} & seen,
               name + ": its name, and no other's", [seen, err])
        tap.ok(("symbols are not used" in err) == (name == names[1]),
               name + ": which names are not used is said", [err])
    found = asked("changing.db", "SELECT inode, size, changed FROM file JOIN "
                  "image ON image = id WHERE path = '%s'" % prog)
    s = os.stat(prog)
    tap.ok(len(found) == 2 and (s.st_ino, s.st_size, s.st_mtime_ns) in found,
           "the database has both, by their numbers", [found, s])
    tally("record", "--quiet", "-o", "changing.db", prog)
    tap.ok(len(asked("changing.db", "SELECT * FROM image WHERE path = '%s'" %
                     prog)) == 2, "the same file again is the same image")
    copy = os.path.join(where, "copy")
    shutil.copytree(os.path.join(where, "changing.db"), copy)
    c = sqlite3.connect(file_of("copy"))
    c.executescript("DROP TABLE file; PRAGMA user_version = 3")
    c.close()
    status, _, err = tally("report", copy)
    tap.ok(status == 0 and "symbols are not used" not in err,
           "of older databases nobody knows", [status, err])


def annotated(*words):
    status, out, err = tally("annotate", "--json", *words)
    return json.loads(out) if not status else {"status": status, "err": err}


def try_annotate():
    """a procedure with its samples, instruction by instruction"""
    prog = os.path.join(where, "shares")
    want = {r["procedure"]: r for r in
            rows("shares.db", "procedure", "--image", "shares")}
    row = want["three_quarters"]
    got = annotated("three_quarters", "shares.db")
    code = got.get("code", [])
    tap.ok(total(code) == got.get("samples") == row["samples"] and
           got["address"] == row["address"], "annotate: all samples are there",
           [got.get("samples"), row])
    names = objdump(prog, "three_quarters")
    tap.ok([(int(c["address"], 16), c["instruction"].split()[0])
            for c in code] == names, "every instruction, as objdump has them",
           [code[:3], names[:3]])
    by_insn = {r["address"]: r["samples"] for r in
               rows("shares.db", "instruction", "--image", "shares",
                    "--procedure", "three_quarters")}
    tap.ok({c["address"]: c["samples"] for c in code if c["samples"]} ==
           by_insn, "with the samples of each", [by_insn])
    inside = annotated(code[2]["address"], "--image", "shares", "shares.db")
    tap.ok(inside == got, "by an address in it", [inside])
    status, out, _ = tally("annotate", "three_quarters", "shares.db")
    tap.ok(status == 0 and "WORK(three_quarters" in out and
           "%d samples of" % row["samples"] in out, "for people",
           out.splitlines()[:6])
    for words, status, why in (
            (["nowhere", "shares.db"], 3, "no procedure called 'nowhere'"),
            (["main", "--image", "no", "shares.db"], 3, "no image called"),
            (["main", "shares.db", prog], 3, "not a profile")):
        got = annotated(*words)
        tap.ok(got.get("status") == status and why in got.get("err", ""),
               "annotate " + " ".join(words[:-1]), [got])
    os.rename(prog, prog + ".gone")
    code = annotated("0x0", "--image", "shares", "shares.db").get("code", [])
    os.rename(prog + ".gone", prog)
    tap.ok(total(code) == total(want.values()) and
           not any(c["instruction"] for c in code),
           "without the file: samples and addresses", code[:3])


def objdump(prog, procedure):
    """(address, mnemonic) of its instructions"""
    text = run("objdump", "-d", "--no-show-raw-insn",
               "--disassemble=" + procedure, prog)
    return [(int(a, 16), op) for a, op in
            re.findall(r"^ +([0-9a-f]+):\t(\S+)", text, re.M)]


def try_programs():
    same_run("what it prints and its status", "sh", "-c", "echo a; exit 3")
    same_run("a signal ends it", "sh", "-c", "kill -TERM $$")
    same_run("it executes another", "sh", "-c", "exec echo b")
    script = os.path.join(where, "script")
    with open(script, "w") as f:
        f.write("#!/bin/sh\necho script $0 $1\n")
    os.chmod(script, 0o755)
    same_run("a script", script, "word")
    with open(script, "w") as f:
        f.write("echo no first line\n")
    same_run("a script without its first line", "sh", "-c", script)
    for words, want in ((["nosuchprogram"], 127), (["/etc/passwd"], 126),
                        (["--rate", "0", "true"], 125), ([], 125),
                        (["--rate", "200000", "true"], 125),
                        (["-o", "/proc/nowhere", "true"], 125)):
        status, _, err = tally("record", *words)
        tap.ok(status == want and err.startswith("tally"),
               "status %d for %s" % (want, " ".join(words) or "nothing"),
               [status, err])


def try_short_lives():
    """hundreds of processes that live for a millisecond"""
    def seen():
        names = {r["process"] for r in rows("short", "process")}
        return {"sh", "true", "ls"} <= names and \
            total(rows("short", "image")) > 2000

    record("short", seen, "--", "sh", "-c", "for i in $(seq %d); do "
           "/bin/true; ls / >/dev/null; done" % work(400))
    n = sums("short", "short lives: every listing adds up to the same")
    bad = [r for r in rows("short", "image") if r["image"] == "[unknown]"]
    lost = rows("short", "event")[0]["lost"]
    tap.ok(total(bad) <= 0.0005 * n and not lost,
           "nearly all samples of short lives have an image", bad + [lost])
    tap.ok(seen(), "and a process", rows("short", "process")[:20])


def try_reload():
    """libraries in the place of others"""
    libs = [build("lib%d.so" % i, "-shared", "-fPIC", "-DN=%d" % i,
                  "tests/progs/sample/work.c") for i in range(3)]
    prog = build("reload", "tests/progs/sample/reload.c", "-ldl")

    def works():
        return {r["image"]: r["samples"] for r in
                rows("reload.db", "procedure") if r["procedure"] == "work"}

    record("reload.db", lambda: sum(works().values()) > 1000, prog, *libs)
    got = works()
    n = sum(got.values())
    tap.ok(len(got) == 3 and all(is_share(x, n, 1 / 3)
                                 for x in got.values()),
           "what is loaded again and again is told apart", [got])
    tap.none([r for r in rows("reload.db", "procedure")
              if r["procedure"] in ("before", "behind")],
             "and nothing is taken for what was there before")
    bad = [r for r in rows("reload.db", "image") if r["image"] == "[unknown]"]
    tap.none(bad, "nothing of it is unknown")


def try_threads_and_forks():
    prog, got, n = os.path.join(where, "shares"), [], 30

    def both():
        nonlocal n
        db, n = "forks%d" % n, 2 * n
        tally("record", "--quiet", "-o", db, "--", "sh", "-c",
              "%s %d & %s %d & wait" % (prog, n, prog, n))
        got[:] = [r for r in rows(db, "process") if r["process"] == "shares"]
        return got and min(r["samples"] for r in got) > 20

    until(both, 0)
    tap.ok(len(got) == 2, "two at a time are two processes", got)


def try_unprivileged():
    if os.geteuid():
        tap.skip("as nobody", "not root")
        return
    home = os.path.join(where, "nobody")
    os.mkdir(home)
    os.chown(home, NOBODY, NOBODY)
    os.chmod(where, 0o755)
    status, _, err = record(home + "/db", lambda: of_image(
        home + "/db", "shares"), os.path.join(where, "shares"), "30",
        preexec_fn=drop)
    got = {r["image"] for r in rows(home + "/db", "image")}
    paranoid = int(open("/proc/sys/kernel/perf_event_paranoid").read())
    tap.ok(status == 0 and "shares" in got and
           ("[kernel]" in got) <= (paranoid < 2),
           "anybody records his own program", [status, err, got])
    status, _, err = tally("record", "-o", "/nowhere", "true",
                           preexec_fn=drop)
    tap.ok(status == 125 and "/nowhere" in err,
           "where one may not write", [status, err])


def child_of(p):
    """the process that it has started"""
    return int(subprocess.run(["pgrep", "-P", str(p.pid)],
                              capture_output=True, text=True).stdout)


def record_until(enough, db, *words):
    """the program is killed when enough() is true; (0 if that ended it,
    output, messages)"""
    p = subprocess.Popen([TALLY, "record", "-o", db, *words], cwd=where,
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                         text=True)
    until(enough)
    os.kill(child_of(p), signal.SIGKILL)
    out, err = p.communicate()
    return p.returncode - 128 - signal.SIGKILL, out, err


def try_kill():
    prog = os.path.join(where, "shares")
    p = subprocess.Popen([TALLY, "record", "--quiet", "-o", "killed", prog],
                         cwd=where, stdout=subprocess.DEVNULL)
    before = until(lambda: stored("killed"))
    child = child_of(p)
    p.kill()
    p.wait()
    os.kill(child, signal.SIGKILL)
    tap.none(complaints("killed"), "killed: the database is whole")
    n = total(rows("killed", "image"))
    tap.ok(n >= before > 0, "and has what was written before", [n, before])


def try_two_writers():
    prog = os.path.join(where, "shares")
    many = [subprocess.Popen([TALLY, "record", "--quiet", "-o", "both", prog,
                              "40"], cwd=where, stderr=subprocess.PIPE,
                             stdout=subprocess.DEVNULL, text=True)
            for _ in range(3)]
    said = [p.communicate()[1] for p in many]
    tap.ok(not any(p.returncode for p in many), "three write to one database",
           said)
    told = sum(int(s.split()[1]) for s in said)
    tap.ok(total(rows("both", "image")) == told, "and nothing is lost",
           [told, rows("both", "event")])


def try_full():
    """no room for samples: the program runs all the same"""
    disk = os.path.join(where, "disk")
    with small_disk(tap, disk, "1m") as there:
        if not there:
            return
        # once the database is there the program fills what is left
        status, out, err = tally(
            "record", "--quiet", "-o", disk + "/db", "sh", "-c",
            "cat /dev/zero >%s/filler 2>/dev/null; for i in $(seq %d); do "
            "ls -l / /usr >/dev/null; done; echo done" % (disk, work(200)))
        tap.ok((status, out) == (125, "done\n") and
               "cannot be written" in err,
               "a full disk: the program runs, and we say so",
               [status, out, err])
        tap.none(complaints("disk/db"), "the database is whole")


def try_broken():
    os.mkdir(os.path.join(where, "broken"))
    os.mkdir(os.path.join(where, "empty"))
    (name,) = [n for n in os.listdir(where + "/shares.db")
               if n.endswith(".tallydb")]
    whole = open("%s/shares.db/%s" % (where, name), "rb").read()
    path = "%s/broken/%s" % (where, name)
    for title, data in (("half of it", whole[:len(whole) // 2]),
                        ("something else", b"x" * 5000),
                        ("nothing", b"")):
        with open(path, "wb") as f:
            f.write(data)
        status, _, err = tally("report", "broken")
        tap.ok(status == 3 and name in err, "a database is %s" % title,
               [status, err])
    for title, text in (
            ("another version", "PRAGMA user_version = 99"),
            ("another's", "PRAGMA application_id = 5"),
            ("without its tables", "DROP TABLE samples"),
            ("with a broken run", "UPDATE samples SET data = x'00'"),
            ("with a run that is short",
             "UPDATE samples SET data = substr(data, 1, 9)")):
        with open(path, "wb") as f:
            f.write(whole)
        c = sqlite3.connect(path)
        c.execute(text)
        c.commit()
        c.close()
        status, _, err = tally("report", "broken")
        tap.ok(status == 3 and name in err, "a database %s" % title,
               [status, err])
        if "version" in title:
            status, _, err = tally("record", "-o", "broken", "true")
            tap.ok(status == 125 and "99" in err, "which is not written to",
                   [status, err])
    for words, want in ((["report", "empty"], 3),
                        (["report", "--by", "edge", "shares.db"], 2)):
        status, _, err = tally(*words)
        tap.ok(status == want and err, " ".join(words), [status, err])


def dumped(prog, how):
    """(status, messages, procedures) of a program with such a jitdump; None
    if it had too few samples to tell"""
    shutil.rmtree(os.path.join(where, "dump.db"), ignore_errors=True)
    status, _, err = tally("record", "-o", "dump.db", prog, how) \
        if how != "owner" else \
        record_until(lambda: stored("dump.db"), "dump.db", prog, how)
    for path in glob.glob(os.path.join(where, "jit-*.dump")):
        os.unlink(path)
    n = total(r for r in rows("dump.db", "process")
              if r["process"] == "baddump")
    names = {r["procedure"] for r in rows("dump.db", "procedure")}
    return (status, err, names) if status or n > 20 else None


def try_bad_dumps():
    """a jitdump may be anything: it is said, and no name is made up"""
    prog = build("baddump", "tests/progs/sample/baddump.c")
    for how, why, named in (
            ("", "", True), ("empty", "", False),
            ("magic", "does not begin", False),
            ("none", "a record of 0 bytes", False),
            ("huge", "18446744073709551610 bytes of code", False),
            ("short", "the last record is not whole", True),
            ("link", "not read: ", False), ("other", "another file", False),
            ("owner", "not of the user", False)):
        if how == "owner" and os.geteuid():
            tap.skip("a dump: owner", "not root")
            continue
        status, err, names = until(lambda: dumped(prog, how), 0)
        said = [x for x in err.splitlines() if "jit-" in x]
        tap.ok(status == 0 and len(said) == bool(why) and why in err and
               ("named" in names) == named, "a dump: " + (how or "as it "
                                                           "should be"),
               [status, err, names])


def try_doctor():
    status, out, _ = tally("doctor", "--json")
    seen = {x["what"]: x for x in json.loads(out)}
    tap.ok(status == 0 and {"machine", "time", "kernel"} <= set(seen),
           "the doctor says what there is", [status, out])
    tap.ok("BPF" in seen.get("counting", {}).get("says", ""),
           "and whether the kernel counts", [out])
    if not os.geteuid():
        os.chmod(where, 0o755)
        status, out, err = tally("doctor", "--json", preexec_fn=drop)
        seen = {x["what"]: x for x in json.loads(out)}
        tap.ok(seen["counting"]["verdict"] == "poor" and
               "root" in seen["counting"]["advice"],
               "not for nobody, and why", [status, out, err])
    tap.ok(tally("doctor", "word")[0] == 2, "and takes no words")


if subprocess.run([TALLY, "doctor"], stdout=subprocess.DEVNULL).returncode:
    print("1..0 # SKIP this machine does not let us sample")
    sys.exit(0)
with tempfile.TemporaryDirectory() as where:
    work_in(where)
    for test in (try_shares, try_changed, try_annotate, try_programs,
                 try_short_lives, try_reload,
                 try_threads_and_forks, try_unprivileged, try_kill,
                 try_two_writers, try_full, try_broken, try_bad_dumps,
                 try_doctor):
        test()
tap.done()
