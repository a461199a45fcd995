#!/usr/bin/env python3
"""
launch/cache: the cache of rewritten files: made once, shared by runs that
race, made again when it is damaged or foreign, bounded, and never in the way
of the program.
"""
import glob
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, "tests/lib")
from launch import *
from patience import PATIENCE, until

tap = Tap()
top = tempfile.TemporaryDirectory()
where = os.path.realpath(top.name)
CACHE = os.path.join(where, "cache")
os.environ["TALLY_CACHE"] = CACHE
for name in ("LD_AUDIT", "LD_PRELOAD", "LD_LIBRARY_PATH", "QEMU_LD_PREFIX",
             "TALLY_CACHE_SIZE"):
    os.environ.pop(name, None)


def path(*names):
    return os.path.join(where, *names)


def cold():
    """empties the cache: a process that ended late may still write there"""
    def gone():
        shutil.rmtree(CACHE, ignore_errors=True)
        return not os.path.exists(CACHE)
    until(gone)


def made(name, cache=None):
    """The rewritten file of that name, the newest."""
    found = [f for f in glob.glob((cache or CACHE) + "/*-*/**/" + name,
                                  recursive=True)
             if "/i-" not in f and not os.path.islink(f)]
    return max(found, key=os.path.getmtime) if found else None


def entry(file):
    return os.path.join(CACHE, os.path.relpath(file, CACHE).split("/")[0])


def identity(file):
    st = os.stat(file)
    return st.st_ino, st.st_mtime_ns, st.st_ctime_ns


def works(name, **more):
    """The program runs from the cache, its library too, and is silent."""
    got = run(COUNT + [load, "open", lib, "call", "where", CACHE], **more)
    want = "open: name '%s'\nopen: answer in '%s'\nanswer 31\n" \
        "from there: yes\n" % (lib, lib)
    tap.ok(got == (0, want, ""), name, [str(got[0])] + got[1].splitlines() +
           got[2].splitlines())


def runs(name, says="", **more):
    """The program runs, rewritten or not, and says no more than that."""
    got = run(COUNT + [load, "open", lib, "call"], **more)
    lines = got[2].splitlines()
    tap.ok(got[0] == 0 and "answer 31" in got[1] and says in got[2] and
           all(x.startswith("tally: ") for x in lines) and
           bool(lines) == bool(says), name, [str(got[0])] +
           got[1].splitlines() + lines)


def refused(name, **more):
    status, out, err = run(COUNT + ["--strict", load, "open", lib], **more)
    tap.ok(status == 125 and not out and "hence not run" in err, name,
           [str(status), out, err])


def try_once():
    cold()
    works("the first run")
    before = {f: identity(f) for f in (made("load"), made("lib.so"),
                                       made("libc.so.6"))}
    works("the second run")
    tap.ok(all(identity(f) == i for f, i in before.items()),
           "rewrites nothing")
    mode = os.stat(CACHE).st_mode & 0o777
    tap.ok(mode == 0o700, "the folder is ours alone", [oct(mode)])
    os.utime(lib)
    works("a library with a new time")
    tap.ok(identity(made("lib.so")) == before[made("lib.so")],
           "but the old contents is not rewritten")
    m.library(lib, 31, "-Wl,-soname,other")
    works("a library that was built anew")
    data = open(lib, "rb").read()
    with open(lib, "r+b") as f: # same build id, another content
        f.write(data.replace(b"other\0", b"wrong\0"))
    works("a library that was changed in place")
    tap.ok(open(made("lib.so"), "rb").read().count(b"wrong\0"),
           "is rewritten anew")
    m.library(lib, 31)


def try_damage():
    def damage(name, change, *files):
        cold()
        works(name + ": before")
        for f in files or ("load", "lib.so", "libc.so.6"):
            change(made(f))
        works(name)
        works(name + ": after")

    def corrupt(f):
        with open(f, "r+b") as g:
            g.seek(os.path.getsize(f) // 2)
            g.write(b"\xff" * 64)

    def corrupt_unseen(f):
        st = os.stat(f)
        corrupt(f)
        os.utime(f, ns=(st.st_atime_ns, st.st_mtime_ns))

    def truncate(f):
        os.truncate(f, os.path.getsize(f) // 3)

    def half_record(f):
        os.truncate(os.path.join(entry(f), "record"), 40)

    def bad_record(f):
        with open(os.path.join(entry(f), "record"), "r+b") as g:
            g.seek(60)
            g.write(b"damage")

    damage("corrupted", corrupt)
    damage("corrupted, the time put back", corrupt_unseen)
    damage("truncated", truncate)
    damage("emptied", lambda f: os.truncate(f, 0))
    damage("removed", os.unlink)
    damage("a record cut off", half_record)
    damage("a record overwritten", bad_record)
    damage("an empty record",
           lambda f: os.truncate(os.path.join(entry(f), "record"), 0))
    damage("an entry emptied", lambda f: shutil.rmtree(entry(f)))
    damage("a writer that died", lambda f: (
        os.unlink(os.path.join(entry(f), "record")), truncate(f),
        shutil.copy(lib, os.path.join(entry(f), "new"))))
    cold()
    works("copied: before")
    shutil.copytree(CACHE, path("copy"), symlinks=True)
    ids = identity(path("copy", os.path.relpath(made("lib.so"), CACHE)))
    cold()
    os.rename(path("copy"), CACHE)
    works("a copied cache")
    tap.ok(identity(made("lib.so"))[:2] == ids[:2], "is taken as it is")


def try_version():
    """Another build of tally does not use this one's entries."""
    cold()
    works("by this version")
    other = path("other")
    os.makedirs(other + "/lib/tally")
    shutil.copy(TALLY, other + "/tally")
    for f in glob.glob(os.path.dirname(TALLY) + "/lib/tally/*"):
        shutil.copy(f, other + "/lib/tally")
    subprocess.run([tool(HOST, "objcopy"),
                              "--remove-section=.note.gnu.build-id",
                              other + "/tally"])
    n = len(glob.glob(CACHE + "/[!x]*-*"))
    got = run([other + "/tally", "count", "--placement", "none", load, "open",
               lib, "call"])
    tap.ok(got[0] == 0 and "answer 31" in got[1] and not got[2] and
           len(glob.glob(CACHE + "/[!x]*-*")) == 2 * n, "by another", got)
    n = len(glob.glob(CACHE + "/[!x]*-*"))
    run(COUNT + ["--trap-unexpected", load, "open", lib])
    tap.ok(len(glob.glob(CACHE + "/*-*")) > n, "with other options")


def try_race():
    for _ in range(5):
        cold()
        many = [subprocess.Popen(COUNT + [load, "open", lib, "call", "where",
                                          CACHE], stdout=subprocess.PIPE,
                                 stderr=subprocess.STDOUT, text=True)
                for _ in range(6)]
        out = [p.communicate(timeout=PATIENCE)[0] for p in many]
        bad = [o for o in out if "answer 31" not in o or
               "from there: yes" not in o]
        if bad:
            break
    tap.ok(not bad, "six first runs at once, five times", bad)
    tap.ok(not glob.glob(CACHE + "/*/new*") and
           not glob.glob(CACHE + "/.new*"), "leave nothing behind")


def is_blocked(pid):
    """Whether the process waits for a lock of another."""
    with open("/proc/locks") as f:
        return re.search(r"-> FLOCK +\S+ +\S+ %d " % pid, f.read())


def try_lock():
    """Who comes second waits for the first, and takes over if it dies."""
    cold()
    works("before")
    folder = entry(made("load"))
    os.unlink(folder + "/record")
    holder = subprocess.Popen(["flock", folder, "-c", "echo; sleep %d" %
                               PATIENCE], stdout=subprocess.PIPE,
                              start_new_session=True)
    holder.stdout.readline()
    p = subprocess.Popen(COUNT + [load, "open", lib, "call"],
                         stdout=subprocess.PIPE, text=True)
    waits = until(lambda: is_blocked(p.pid) or p.poll() is not None) and \
        p.poll() is None
    os.killpg(holder.pid, signal.SIGKILL)
    holder.communicate()
    out = p.communicate(timeout=PATIENCE)[0]
    tap.ok(waits and "answer 31" in out, "waits for a writer, and takes over "
           "when it dies", [str(waits), out])


def try_unusable():
    """A folder that cannot be used: a private one for this run."""
    def private(name, folder, says):
        runs(name, says, env=dict(os.environ, TALLY_CACHE=folder, TMPDIR=tmp))
        tap.ok(not os.listdir(tmp), name + ": the private one is removed",
               os.listdir(tmp))

    tmp = path("tmp")
    os.mkdir(tmp)
    with open(path("file"), "w") as f:
        f.write("x")
    private("a file", path("file"), "only")
    private("below a file", path("file", "x"), "only")
    os.mkdir(path("open"))
    os.chmod(path("open"), 0o777)
    private("others may write there", path("open"), "others")
    private("not ours", "/proc/1", "only")
    e = {"PATH": os.environ["PATH"], "TMPDIR": tmp}
    runs("no HOME", "HOME", env=e)
    e["HOME"] = path("home")
    got = run(COUNT + ["true"], env=e)
    tap.ok(got == (0, "", "") and os.path.isdir(path("home/.cache/tally")),
           "~/.cache/tally", got)
    e["XDG_CACHE_HOME"] = path("xdg")
    got = run(COUNT + ["true"], env=e)
    tap.ok(got == (0, "", "") and os.path.isdir(path("xdg/tally")),
           "$XDG_CACHE_HOME/tally", got)
    e = dict(os.environ, TALLY_CACHE=path("file"), TMPDIR="/proc/nowhere")
    runs("nowhere at all", "not rewritten", env=e)
    refused("nowhere, strict", env=e)
    if os.geteuid():
        return
    # as somebody else, and where nothing may be written
    os.makedirs(path("ro"))
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "ro", "none",
                       path("ro")]).returncode:
        tap.skip("read-only", "cannot mount")
        return
    private("read-only", path("ro"), "only")
    private("below read-only", path("ro/x"), "only")
    subprocess.run(["mount", "-o", "remount,rw,noexec", path("ro")],
                   check=True)
    os.chmod(path("ro"), 0o700)
    private("noexec", path("ro"), "noexec")
    subprocess.run(["umount", path("ro")], check=True)


def try_full():
    """No space: the program runs, what did not fit is not rewritten."""
    cold()

    def small():
        resource.setrlimit(resource.RLIMIT_FSIZE, (60000, 60000))

    runs("a limit on the size of files", "not rewritten", preexec_fn=small)
    refused("the same, strict", preexec_fn=small)
    works("without the limit")
    if os.geteuid():
        return
    os.makedirs(path("full"))
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=256k,mode=700",
                       "none", path("full")]).returncode:
        tap.skip("a full disk", "cannot mount")
        return
    e = dict(os.environ, TALLY_CACHE=path("full"))
    runs("a full disk", "No space left", env=e)
    runs("a full disk, again", "No space left", env=e)
    refused("a full disk, strict", env=e)
    left = [f for f in glob.glob(path("full/*/new*"))]
    tap.ok(not left, "a full disk: nothing half-written", left)
    subprocess.run(["umount", path("full")], check=True)


def try_memory():
    """A limit on memory that lets the program run, but not the rewriter."""
    def little():
        resource.setrlimit(resource.RLIMIT_DATA, (33 << 20, 33 << 20))

    def least():
        resource.setrlimit(resource.RLIMIT_DATA, (16 << 20, 16 << 20))

    # a sanitized tally cannot even start
    if run([TALLY, "--help"], preexec_fn=little)[0]:
        tap.skip("little memory", "tally itself needs more")
        return
    cold()
    large = [os.path.realpath(sys.executable), "-c", "print(31)"]
    for word, want in ([], (0, "31\n")), (["--strict"], (125, "")):
        status, out, err = run(COUNT + word + large, preexec_fn=little)
        tap.ok((status, out) == want and "needs more memory" in err,
               "little memory" + ", strict" * len(word),
               [str(status), out, err])
    works("without the limit on memory")
    runs("little memory, but all is in the cache", preexec_fn=little)
    # the program, which knows its parent, leaves it nothing to report with
    status, _, err = run(COUNT[:2] + [
        "-o", path("starved"), "sh", "-c",
        "prlimit --pid $PPID --data=1000000; exit 7"])
    tap.ok(status == 7 and "out of memory" in err and path("starved") in err
           and run([TALLY, "report", path("starved")])[0] == 0,
           "no memory to report with: the program's status, and its profile",
           [str(status), err])
    runs("less than takes part", "is below 32 MiB", preexec_fn=least)
    refused("less than takes part, strict", preexec_fn=least)


def try_evict():
    def entries():
        return {f for f in os.listdir(CACHE)
                if os.path.exists(os.path.join(CACHE, f, "record"))
                and not f.startswith("i-")}

    def age(hours):
        for f in entries():
            t = time.time() - 3600 * hours
            os.utime(os.path.join(CACHE, f, "record"), (t, t))

    cold()
    works("before eviction")
    age(5)
    first = entries()
    e = dict(os.environ, TALLY_CACHE_SIZE="20M")
    ballast = path("ballast.h")
    with open(ballast, "w") as f:
        f.write("char ballast[6 << 20] = {1};\n")
    for i in range(3):
        # with data that is loaded: a rewritten file has no other
        big = m.library(path("big%d.so" % i), i, "-include", ballast)
        run(COUNT + [load, "open", big, "call"], env=e)
    works("used now", env=e)
    works("once more", env=e)
    second = entries()
    tap.ok(made("lib.so") and made("libc.so.6") and len(
        glob.glob(CACHE + "/*-*/**/big*.so", recursive=True)) <= 4,
        "the oldest go, what is used stays", sorted(second))
    e = dict(os.environ, TALLY_CACHE_SIZE="1")
    age(5)
    big = m.library(path("big9.so"), 9)
    ready = path("ready")
    p = subprocess.Popen(COUNT + [world, "wait", ready], env=e,
                         stdout=subprocess.PIPE, text=True)
    until(lambda: os.path.exists(ready) and os.path.getsize(ready), 0.02)
    got = run(COUNT + [load, "open", big, "call"], env=e)
    tap.ok(got[0] == 0 and "answer 9" in got[1] and made("world") and
           not made("lib.so"), "what runs is not evicted", [
               str(got), str(made("world")), str(made("lib.so"))])
    p.send_signal(signal.SIGTERM)
    p.communicate(timeout=PATIENCE)
    dangling = [f for f in os.listdir(CACHE)
                if f.startswith("i-") and not os.path.exists(
                    os.path.join(CACHE, f))]
    tap.ok(not dangling, "no dangling links", dangling)
    works("afterwards")


def try_strict():
    """A library that cannot be made at run time ends a strict program."""
    cold()
    got = run(COUNT + ["--strict", load, "open", lib, "call"])
    tap.ok(got[0] == 0 and "answer 31" in got[1] and not got[2],
           "strict, and all is well", got)
    if os.geteuid():
        return
    os.unlink(os.path.join(entry(made("lib.so")), "record"))
    shutil.rmtree(entry(made("lib.so")))
    # its entry's place is taken by a file: it cannot be made
    name = [os.path.basename(os.readlink(f)) for f in
            glob.glob(CACHE + "/i-*") if not os.path.exists(f)][0]
    with open(os.path.join(CACHE, name), "w") as f:
        f.write("in the way")
    got = run(COUNT + ["--strict", load, "open", lib, "call"])
    tap.ok(got[0] == 125 and "answer" not in got[1] and
           "tally: " in got[2], "strict, and it cannot be made", got)
    runs("not strict: silent")


m = machines()[0]
if m.missing():
    print("1..0 # SKIP " + m.missing())
    sys.exit(0)
load = m.build(path("load"), "load.c")
world = m.build(path("world"), "world.c")
lib = m.library(path("lib.so"), 31)
try_once()
try_damage()
try_version()
try_race()
try_lock()
try_unusable()
try_full()
try_memory()
try_evict()
try_strict()
top.cleanup()
tap.done()
