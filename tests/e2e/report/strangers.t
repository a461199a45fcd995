#!/usr/bin/env python3
"""
report/strangers: what lies where a sampled program was may be anything by the
time of a report: a FIFO, a device, or a program made to cost its reader much.
Each costs the image its names, and a report neither waits nor grows.
"""
import os
import re
import resource
import struct
import subprocess
import sys
import tempfile
import time
import zlib

sys.path.insert(0, "tests/lib")
from cfg_oracle import *
from samples import *

MAKE = os.path.join(os.path.dirname(TALLY), "tools/make-database")
MEGABYTE = 1 << 20
BOMB = 700 * MEGABYTE
SANITIZED = b"__asan_init" in open(TALLY, "rb").read()
tap = Tap()


def database(name, path):
    """samples of a file with that path, and of one that is as it should be"""
    db = os.path.join(where, name)
    text = "".join("epoch 1000 1900 x\nevent cycles 5 0\nimage 0 %s\n"
                   "hit 4096 9\nhit 4100 3\n" % p for p in (path, whole))
    subprocess.run([MAKE, db], input=text, text=True, check=True)
    return db


def asked(title, path, by="procedure", need=""):
    """a report of it, which says what it could not read; seconds"""
    db = database(title.replace(" ", "-"), path)
    began = time.monotonic()
    p = subprocess.run(["timeout", "100", TALLY, "report", "--by", by, db],
                       capture_output=True, text=True)
    took = time.monotonic() - began
    tap.ok(p.returncode == 0 and need in p.stderr and
           os.path.basename(path) in p.stdout and
           os.path.basename(whole) in p.stdout,
           "%s: a report by %s goes on" % (title, by),
           [p.returncode, took, p.stdout[:300], p.stderr])
    return took


def try_fifo():
    path = os.path.join(where, "fifo")
    os.mkfifo(path)
    asked("a FIFO", path, need="not a regular file")


def try_device():
    """it is not even opened: that may do something"""
    master, slave = os.openpty()
    asked("a device", os.ttyname(slave), need="not a regular file")
    os.close(slave)
    os.close(master)


def try_link():
    """a debug link that leads to a FIFO"""
    os.mkdir(os.path.join(where, "linked"))
    path = os.path.join(where, "linked/prog")
    debug = os.path.join(where, "linked/prog.debug")
    open(debug, "w").write("debug")
    run("objcopy", "--strip-all", "--remove-section=.note.gnu.build-id",
        "--add-gnu-debuglink=" + debug, whole, path)
    os.unlink(debug)
    os.mkfifo(debug)
    asked("a debug file that is a FIFO", path)


def packed(size):
    """so many zeroes, as a section of an older compiler"""
    z = zlib.compressobj(9)
    piece, out = bytes(MEGABYTE), []
    for _ in range(size // MEGABYTE):
        out.append(z.compress(piece))
    return b"ZLIB" + struct.pack(">Q", size) + b"".join(out) + z.flush()


def try_bomb():
    path = os.path.join(where, "bomb")
    blob = os.path.join(where, "blob")
    open(blob, "wb").write(packed(BOMB))
    words = []
    for name in "info", "abbrev", "line", "str", "aranges":
        words += ["--add-section", ".zdebug_%s=%s" % (name, blob)]
    run("objcopy", "--strip-debug", *words, whole, path)
    asked("a packed section", path, "line")
    asked("a packed section, once more", path)
    most = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss >> 10
    if SANITIZED:
        tap.skip("in little memory", "sanitizers take more")
    else:
        tap.ok(most < 400, "%d kB that become %d MB: in little memory" %
               (os.path.getsize(blob) >> 10, BOMB >> 20), ["%d MB" % most])


def try_owner():
    """a file is read with the rights of its owner, whoever asks"""
    if os.geteuid():
        tap.skip("a debug file of root's", "not root")
        return
    prog, debug = (os.path.join(where, "linked", n) for n in
                   ("owned", "owned.debug"))
    run("objcopy", "--only-keep-debug", whole, debug)
    run("objcopy", "--strip-all", "--remove-section=.note.gnu.build-id",
        "--add-gnu-debuglink=" + debug, whole, prog)
    os.chown(prog, NOBODY, NOBODY)
    main, = re.findall(r"(\w+) T main$", run("nm", whole), re.M)
    db = os.path.join(where, "owned")
    subprocess.run([MAKE, db], input="epoch 1000 1900 x\nevent cycles 5 0\n"
                   "image 0 %s\nhit %d 9\n" % (prog, int(main, 16) + 4),
                   text=True, check=True)
    for mode, read in ((0o644, True), (0o600, False)):
        os.chmod(debug, mode)
        for form in "pprof", "autofdo", "callgrind":
            p = subprocess.run([TALLY, "export", "--format", form, db],
                               capture_output=True)
            out = zlib.decompress(p.stdout, 31) if form == "pprof" else \
                p.stdout
            known = b"main:" if form == "autofdo" else b"shares.c"
            tap.ok(p.returncode == 0 and (known in out) == read,
                   "%s: a debug file of root's, mode %o" % (form, mode),
                   [str(out[:200]), p.stderr.decode()])
        p = subprocess.run([TALLY, "graph", "--format", "dot", "0x" + main,
                            db],
                           capture_output=True, text=True)
        tap.ok(p.returncode == 0 and "digraph" in p.stdout and
               ("shares.c" in p.stdout) == read,
               "graph: a debug file of root's, mode %o" % mode,
               [p.stdout[:300], p.stderr])
    tool = os.path.join(where, "tool")
    os.mkdir(tool)
    for name in "objdump", HOST + "-linux-gnu-objdump":
        with open(os.path.join(tool, name), "w") as f:
            f.write("#!/bin/sh\nid -u > %s/uid\nexec /usr/bin/objdump \"$@\"\n"
                    % tool)
        os.chmod(f.name, 0o755)
    os.chmod(tool, 0o777)
    env = dict(os.environ, PATH=tool + ":" + os.environ["PATH"])
    for words in ["annotate"], ["graph", "-o", os.path.join(where, "drawn")]:
        p = subprocess.run([TALLY, *words, "0x" + main, db], env=env,
                           capture_output=True, text=True)
        with open(tool + "/uid") as f:
            uid = f.read().strip()
        os.unlink(tool + "/uid")
        tap.ok(p.returncode == 0 and uid == str(NOBODY),
               "%s: objdump has the owner's rights" % words[0],
               [uid, p.stderr])
    with open(os.path.join(where, "drawn")) as f:
        tap.ok("</svg>" in f.read(), "graph: writes where root may")
    out = os.path.join(where, "nothing")
    p = subprocess.run([TALLY, "graph", "-o", out, "0x" + main, db],
                       env=dict(os.environ, PATH=tool),
                       capture_output=True, text=True)
    tap.ok(p.returncode == 4 and "dot" in p.stderr and
           not os.path.exists(out), "graph: leaves no file if it fails",
           [p.returncode, p.stderr])


def try_sticky():
    """a stranger's link in a folder for all is not written through"""
    if os.geteuid():
        tap.skip("a stranger's link", "not root")
        return
    folder = os.path.join(where, "all")
    os.mkdir(folder)
    os.chmod(folder, 0o1777)
    precious = os.path.join(where, "precious")
    env = dict(os.environ, XDG_CACHE_HOME=os.path.join(where, "cache"))
    run(TALLY, "count", "--quiet", "-o", os.path.join(where, "p"), "true",
        env=env)
    for words in ["count", "--quiet", "true"], ["merge", "../p", "../p"], \
            ["snapshot", "../p"]:
        with open(precious, "w") as f:
            f.write("as it was")
        for owner in NOBODY, 0:
            link = os.path.join(folder, "true.tally")
            os.symlink("../precious", link)
            os.lchown(link, owner, owner)
            p = subprocess.run([TALLY, words[0], "-o", "true.tally",
                                *words[1:]], cwd=folder, env=env, text=True,
                               capture_output=True)
            with open(precious, "rb") as f:
                same = f.read() == b"as it was"
            os.unlink(link)
            tap.ok(same == (owner == NOBODY) and
                   ("Permission denied" in p.stderr) == same,
                   "%s by a link of %s" % (words[0], "root's" if not owner
                                           else "a stranger's"),
                   [p.returncode, p.stderr])


def try_hole():
    """a header that asks for gigabytes, in a file of one block"""
    path = os.path.join(where, "hole")
    with open(path, "wb") as f:
        f.write(b"tlyprof1" + struct.pack("<IHHQQQQII", 4, 0xb7, 0, 1 << 34,
                                          1, 0, 0, 0xffffffff, 0xffffffff))
        f.truncate(1 << 34)
    def little():
        resource.setrlimit(resource.RLIMIT_DATA, (1 << 28, 1 << 28))

    p = subprocess.run([TALLY, "report", path], capture_output=True,
                       text=True, preexec_fn=None if SANITIZED else little)
    tap.ok(p.returncode == 3 and "does not end" in p.stderr,
           "a profile that is a hole", [p.returncode, p.stderr])


with tempfile.TemporaryDirectory() as where:
    os.chmod(where, 0o755)
    whole = os.path.join(where, "whole")
    run("gcc", "-O1", "-g", "-o", whole, "tests/progs/sample/shares.c")
    for test in (try_fifo, try_device, try_link, try_bomb, try_owner,
                 try_sticky, try_hole):
        test()
tap.done()
