#!/usr/bin/env python3
"""
count/process: counters of running processes. With a counter everywhere
(tests/tools/count-everywhere.c) a program that tells how often it called a
procedure, in every process and however it ends, is compared with the profile
that it leaves: threads, forks, programs that execute others, libraries that
come and go, and everything that may be missing.
"""
import contextlib
import os
import random
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
from live_profile import *
from patience import until

tap = Tap()
# code of the other machine is counted in an emulator, too
MACHINES = sorted(machines(), key=lambda x: x.isa)
m = None
top = tempfile.TemporaryDirectory()
where = os.path.realpath(top.name)
EVERYWHERE = os.path.join(os.path.dirname(TALLY), "tools/count-everywhere")
SOURCE = os.path.abspath("tests/progs/count/process.c")
EXACT = 0


def path(name):
    return os.path.join(where, m.isa, name)


class Program:
    """A build of process.c, and which counter of it is work()'s."""

    def __init__(self, name, *flags):
        self.name, self.file = name, path(name)
        subprocess.run([*m.cc, "-O2", "-w", "-o", self.file, SOURCE, *flags],
                       check=True, stderr=subprocess.DEVNULL)
        self.work = address_of(self.file, "work")
        self.counter = counter_of(self.file, "work")

    def run(self, *words, options=(), profile=None, **more):
        """(status, said, messages, profile); said: {pid: calls}"""
        profile = profile or path("profile")
        with contextlib.suppress(FileNotFoundError):
            os.remove(profile)
        status, out, err = run([EVERYWHERE, "run", *options, profile,
                                self.file, *words], **more)
        said = {int(a): int(b) for a, b in re.findall(r"^(\d+) (\d+)$", out,
                                                       re.M)}
        there = Profile(profile) if os.path.exists(profile) else None
        return status, said, err, there

    def calls(self, profile, process=None):
        return profile.sum(self.name, self.counter, process)

    def judge(self, name, result, trouble=EXACT, status=0, quiet=True):
        """Every process that said something was counted so."""
        got, said, err, profile = result
        wrong = []
        if got != status or (quiet and err):
            wrong.append("status %d: %s" % (got, err))
        if not profile or not profile.process:
            wrong.append("no profile")
        else:
            if profile.trouble != trouble:
                wrong.append("trouble %d" % profile.trouble)
            by_pid = {k.pid: n for n, k in profile.process.items()}
            for pid, calls in said.items():
                seen = self.calls(profile, by_pid.get(pid, 0))
                if seen != calls:
                    wrong.append("process %d: %d, not %d" % (pid, seen, calls))
        tap.none(wrong, "%s %s: %s" % (m.isa, self.name, name))
        return profile


def address_of(file, symbol):
    nm = subprocess.check_output([tool(m.isa, "nm"), file], text=True)
    return next(int(l.split()[0], 16) for l in nm.splitlines()
                if l.endswith(" " + symbol))


def counter_of(file, symbol):
    """The number of the counter before a procedure's first block."""
    at = address_of(file, symbol)
    listing = subprocess.check_output([EVERYWHERE, "map", file], text=True)
    return next(int(l.split()[0]) for l in listing.splitlines()
                if int(l.split()[1], 16) == at)


def blocks(profile, name, process=1):
    return len(profile.of(name, process)) - 1


def try_threads(p):
    r = p.run("threads", "8", "250000", "say")
    profile = p.judge("8 threads at once", r)
    tap.ok(blocks(profile, p.name) == 8 and r[1].popitem()[1] == 2000000,
           p.name + ": a block for each")
    profile = p.judge("300 threads, one after the other",
                      p.run("loop", "300", "say"))
    tap.ok(blocks(profile, p.name) == 1, p.name + ": one block for all",
           ["%d" % blocks(profile, p.name)])
    p.judge("40 threads at once", p.run("threads", "40", "100", "say"))


def try_forks(p):
    r = p.run("work", "3", "tree", "3", "say")
    profile = p.judge("a tree of processes", r)
    tap.ok(len(r[1]) == 15 == len(profile.process) == profile.nprocess and
           {k.origin for n, k in profile.process.items() if n > 1} == {2} and
           all(k.parent in profile.process
               for n, k in profile.process.items() if n > 1),
           p.name + ": each with a number and a parent")
    profile = p.judge("processes of threads, while others run",
                      p.run("forks", "6", "say"))
    tap.ok(len(profile.process) == 7, p.name + ": all of them")
    p.judge("threads after a fork, forks after threads",
            p.run("threads", "3", "500", "tree", "2", "threads", "4", "50",
                  "tree", "1", "say"))


def try_others(p):
    p.judge("posix_spawn, vfork, system", p.run("spawn", "say"))


def try_exec(p, other):
    words = ["work", "5", "say", "exec", other.file, "work", "9", "say"]
    # of this machine, for nobody is there to emulate another one
    status, said, err, profile = p.run(*words[:4], shutil.which("true"))
    tap.ok(status == 0 and p.calls(profile) == 5 and
           len(profile.process) == 1, "an executed program is not counted",
           [str(status), str(said), err])
    if EMULATED:
        return
    status, said, err, profile = p.run(*words, options=["-f"])
    good = status == 0 and len(profile.process) == 2
    second = profile.process.get(2)
    tap.ok(good and p.calls(profile, 1) == 5 and
           other.calls(profile, 2) == 9 and second.origin == 3 and
           second.parent == 1 and second.pid == profile.process[1].pid and
           second.name == other.file and not profile.trouble,
           "unless it is followed", [str(said), err])
    status, said, err, profile = p.run("tree", "1", *words, options=["-f"])
    tap.ok(status == 0 and len(profile.process) == 4 and
           other.calls(profile) == 9 and not profile.trouble,
           "also beside other processes", [str(said), err])


def try_libraries(p):
    lib = m.library(path("libanswer.so"), 42)
    m.make_ready(lib, EVERYWHERE, "run", path("ready"))
    n = counter_of(lib, "answer")
    profile = p.judge("a library, loaded 20 times",
                      p.run("load", lib, "20", "say"))
    tap.ok(profile.sum("libanswer.so", n) == 20 and
           len(profile.of("libanswer.so")) == 1, "its counts go on",
           ["%d in %d" % (profile.sum("libanswer.so", n),
                          len(profile.of("libanswer.so")))])
    profile = p.judge("the same among threads",
                      p.run("load-among", lib, "20", "say"))
    tap.ok(profile.sum("libanswer.so", n) == 20, "its counts go on")
    status, out, err = run([EVERYWHERE, "run", path("crowd"), p.file,
                            "use-crowded", lib, "say"])
    profile = Profile(path("crowd"))
    answers = int(re.search(r"answers (\d+)", out).group(1))
    good = status == 0 and p.calls(profile) == int(out.split()[-1])
    if m.isa == "aarch64":
        tap.ok(good and profile.sum("libanswer.so", n) == answers and
               blocks(profile, p.name) == 8 and not profile.trouble,
               "threads move to other blocks", [out, err])
    else: # nobody else can change the base of gs
        tap.ok(good and 0 < profile.sum("libanswer.so", n) <= answers and
               blocks(profile, p.name) == 4 and profile.trouble == THREADS,
               "threads share the library's counters",
               [out, err, str(profile.trouble), str(blocks(profile, p.name))])
    profile = p.judge("a library that threads call", p.run("use", lib, "say"))
    tap.ok(profile.sum("libanswer.so", n) == 2000, "all calls are counted",
           ["%d" % profile.sum("libanswer.so", n)])


def try_ends(p):
    for name, words, status in (
            ("_exit", ["_exit", "3"], 3), ("abort", ["abort"], 128 + 6),
            ("SIGKILL", ["kill", "9"], 128 + 9),
            ("SIGSEGV", ["kill", "11"], 128 + 11)):
        r = p.run("work", "1234", "say", *words,
                  preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CORE,
                                                        (0, 0)))
        p.judge("ended by " + name, r, status=status, quiet=False)


def wait_for(what):
    """what() once it is true; as long as it fails it is not"""
    def tried():
        with contextlib.suppress(Exception):
            return what()
    return until(tried, 0.02)


def try_kill(p):
    """At any moment the file can be read, and its counters only grow."""
    rng = random.Random(4)
    file = path("killed")
    wrong = []
    for _ in range(8):
        with contextlib.suppress(FileNotFoundError):
            os.remove(file)
        run_ = subprocess.Popen([EVERYWHERE, "run", file, p.file, "threads",
                                 "2", "10", "forever"])
        pid = wait_for(lambda: Profile(file).process[1].pid)
        time.sleep(rng.random() * 0.5)
        before = p.calls(Profile(file))
        os.kill(pid, signal.SIGKILL)
        status = run_.wait()
        after = Profile(file)
        if status != 128 + 9 or p.calls(after) < before or after.trouble:
            wrong.append("status %d, %d and %d" % (status, before,
                                                  p.calls(after)))
    tap.none(wrong, "killed at any moment")


def try_streams(p):
    """Descriptors are not ours to take."""
    def close_all():
        for fd in range(3):
            os.close(fd)

    words = [p.file, "lowest", "work", "7"]
    plain = subprocess.run(m.plain(words), preexec_fn=close_all).returncode
    got = subprocess.run([EVERYWHERE, "run", path("closed"), *words],
                         preexec_fn=close_all).returncode
    tap.ok(plain == got and p.calls(Profile(path("closed"))) == 7,
           "no stdin, stdout and stderr", ["%d and %d" % (plain, got)])
    p.judge("no descriptor is left",
            p.run("work", "7", "files", "3", "work", "8", "threads", "2", "5",
                  "say"), trouble=NO_FILE | THREADS)
    tap.ok("profile" not in str(p.run("work", "1", "list")[2]),
           "none of ours is open")


def try_space(p):
    p.judge("a limit on files",
            p.run("file-size", "70000", "work", "50", "threads", "1", "50",
                  "work", "1", "say"), trouble=NO_SPACE | THREADS)
    status, said, err, profile = p.run(
        "file-size", "70000", "work", "50", "tree", "1", "say")
    tap.ok(status == 0 and profile.trouble == NO_SPACE | FORK and
           p.calls(profile) == 50 + 14, "a child that cannot count",
           [str(said), err, str(profile.trouble), str(p.calls(profile))])
    status, said, err, profile = p.run(
        "work", "5", "say", preexec_fn=lambda: resource.setrlimit(
            resource.RLIMIT_FSIZE, (1000, 1000)))
    tap.ok(status == 0 and not profile and "nothing is counted" in err,
           "a limit that forbids a profile", [err])


def fill(file):
    fd = os.open(file, os.O_WRONLY | os.O_CREAT)
    with contextlib.suppress(OSError):
        while os.write(fd, b"x" * 4096):
            pass
    os.close(fd)


def on_disk(profile):
    """The share of a profile that takes room on disk."""
    st = os.stat(profile)
    return st.st_blocks * 512 / st.st_size


def try_trim(p):
    """Room for what never ran is given back, and had again if need be."""
    p.judge("many processes", p.run("tree", "4", "say"))
    tap.ok(on_disk(path("profile")) < 0.5, "take less room than reserved",
           ["%f" % on_disk(path("profile"))])
    p.judge("programs that cannot be executed",
            p.run("work", "3", "exec-none", "work", "4", "say", "kill", "9"),
            status=128 + 9)
    tap.ok(on_disk(path("profile")) > 0.9, "nothing is given back",
           ["%f" % on_disk(path("profile"))])


def try_full(p):
    disk = path("disk")
    os.mkdir(disk)
    if os.getuid() or subprocess.run(["mount", "-t", "tmpfs", "-o",
                                      "size=1700k", "none",
                                      disk]).returncode:
        tap.skip("a full disk", "it takes a file system of its own")
        return
    try:
        full = os.path.join(disk, "profile")
        r = p.run("work", "20", "threads", "2", "30", "work", "3", "say",
                  profile=full)
        p.judge("the disk is full for threads", r, trouble=NO_SPACE | THREADS)
        status, said, err, profile = p.run("work", "20", "tree", "1", "say",
                                           profile=full)
        tap.ok(status == 0 and profile.trouble == NO_SPACE | FORK and
               p.calls(profile) == 34, "or for a child")
        os.remove(full)
        fill(os.path.join(disk, "fill"))
        status, said, err, profile = p.run("work", "20", "say", profile=full)
        tap.ok(status == 0 and not profile and list(said.values()) == [20] and
               "nothing is counted" in err, "or altogether", [err])
        tap.ok(os.listdir(disk) == ["fill"], "nothing is left behind")
    finally:
        subprocess.run(["umount", disk])


THREADED = r"""
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>
static volatile int sink;
#define F(n) __attribute__((noinline)) static int f##n(int x) \
	{ if (x & n) sink++; if (x & 2) sink -= x; return x * 3 + n; }
#define TEN(m, a) m(a##0) m(a##1) m(a##2) m(a##3) m(a##4) m(a##5) m(a##6) \
	m(a##7) m(a##8) m(a##9)
#define HUNDRED(m, a) TEN(m, a##0) TEN(m, a##1) TEN(m, a##2) TEN(m, a##3) \
	TEN(m, a##4) TEN(m, a##5) TEN(m, a##6) TEN(m, a##7) TEN(m, a##8) \
	TEN(m, a##9)
#define ALL(m) HUNDRED(m, 1) HUNDRED(m, 2) HUNDRED(m, 3) HUNDRED(m, 4) \
	HUNDRED(m, 5) HUNDRED(m, 6) HUNDRED(m, 7) HUNDRED(m, 8)
#define CALL(n) x = f##n(x);
ALL(F)
static void on_bus(int s) { (void)s; _exit(77); }
static void *work(void *arg)
{
	char c, *how = arg;
	int x = 5;
	sigset_t all;
	sigfillset(&all);
	if (*how == 'e') pthread_sigmask(SIG_BLOCK, &all, NULL);
	puts("ready"), fflush(stdout);
	if (read(0, &c, 1) < 0) return NULL;
	if (*how == 'l') pthread_sigmask(SIG_SETMASK, &all, NULL);
	ALL(CALL)
	printf("%d %s\n", x, how);
	return NULL;
}
int main(int argc, char **argv)
{
	pthread_t t;
	if (*argv[1] == 'h') signal(SIGBUS, on_bus);
	pthread_create(&t, NULL, work, argv[1]);
	pthread_join(t, NULL);
	return 3;
}
"""


def run_threaded(words, fill):
    """(status, output, messages); fill() is called when it has a thread"""
    run_ = subprocess.Popen(words, stdin=subprocess.PIPE, text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    line = run_.stdout.readline()
    fill()
    out, err = run_.communicate("x")
    return run_.returncode, line + out, err


def try_filled(p):
    """Threads' counters are not reserved: the disk is full when they come."""
    disk, file = path("filled"), path("threaded")
    if m.isa != os.uname().machine:
        return # an emulator has signals of its own
    os.mkdir(disk)
    with open(file + ".c", "w") as f:
        f.write(THREADED)
    subprocess.run([*m.cc, "-O1", "-w", "-o", file, file + ".c", "-pthread"],
                   check=True)
    for how, trouble in (("plain", NO_SPACE), ("handles SIGBUS", NO_SPACE),
                         ("early blocks it", EXACT),
                         ("late blocks it", NO_SPACE)):
        if os.getuid() or subprocess.run(
                ["mount", "-t", "tmpfs", "-o", "size=3g", "none",
                 disk]).returncode:
            tap.skip("a disk that fills", "it takes a file system of its own")
            return

        def fill():
            used = os.statvfs(disk)
            subprocess.run(["mount", "-o", "remount,nr_blocks=%d" % (
                used.f_blocks - used.f_bfree), disk], check=True)
        want = run_threaded([file, how], lambda: None)
        words = [TALLY, "count", "--quiet", "-o", disk + "/p", file, how]
        free = run_threaded(words, lambda: None)
        got = run_threaded(words, fill)
        said = Profile(disk + "/p").trouble
        subprocess.run(["umount", disk])
        tap.ok(free == want and got[:2] == want[:2] and said == trouble,
               "the disk fills under a thread: " + how,
               [str(want), str(free), str(got), str(said)])


def try_nowhere(p):
    for name in ("no-such-folder/profile", "process/profile", "cache"):
        status, said, err, _ = run_at(p, path(name))
        tap.ok(status == 0 and said and "nothing is counted" in err,
               "no profile can be at " + name, [err])
        status, said, err, _ = run_at(p, path(name), "-s")
        tap.ok(status == 125 and not said, "strict: hence no run", [err])
    status, said, err, _ = run_at(p, p.file)
    tap.ok(status == 0 and said and "is the program" in err,
           "a program is not overwritten", [err])


def run_at(p, profile, *options):
    status, out, err = run([EVERYWHERE, "run", *options, profile, p.file,
                            "work", "2", "say"])
    return status, out, err, None


def try_replaced(p):
    """What was there is not mixed with what comes."""
    file = path("again")
    with open(file, "wb") as f:
        f.write(b"\xff" * (8 << 20))
    os.symlink(file, path("by-a-link"))
    os.umask(0o027)
    status, out, err = run([EVERYWHERE, "run", path("by-a-link"), p.file,
                            "work", "2", "say"])
    profile = Profile(file)
    tap.ok(p.calls(profile) == 2 and len(profile.bytes) == profile.end and
           os.stat(file).st_mode & 0o777 == 0o640 and
           os.path.islink(path("by-a-link")), "an older profile is replaced")
    os.umask(0o022)
    # by another one, while the program runs
    os.remove(file)
    run_ = subprocess.Popen([EVERYWHERE, "run", file, p.file, "work", "2",
                             "wait", path("go"), "tree", "1", "say"],
                            stdout=subprocess.PIPE)
    first = wait_for(lambda: Profile(file).process[1].pid)
    run([EVERYWHERE, "run", file, p.file, "work", "77"])
    before = open(file, "rb").read()
    open(path("go"), "w").close()
    status = run_.wait()
    tap.ok(first and status == 0 and open(file, "rb").read() == before,
           "and another's is left alone")


def try_chroot(p):
    if os.getuid():
        tap.skip("chroot", "only root can")
        return
    os.mkdir(path("jail"))
    p.judge("in a jail", p.run("work", "4", "chroot", path("jail"), "tree",
                               "2", "threads", "2", "10", "say"))
    p.judge("as nobody", p.run("work", "4", "user", "65534", "tree", "2",
                               "threads", "2", "10", "say"))
    words = ["work", "4", "chroot", path("jail"), "close", "tree", "1",
             "threads", "2", "10", "say"]
    status, said, err, profile = p.run(*words)
    tap.ok(status == 0 and not err and p.calls(profile, 1) == 4 + 14 + 20 and
           profile.trouble == NO_FILE | FORK | THREADS,
           "in a jail, with all descriptors closed",
           [str(said), err, str(profile.trouble)])


def exported(profile, image, address):
    """What `tally export` says of an instruction."""
    out = subprocess.check_output([TALLY, "export", "--format", "tsv",
                                   profile], text=True)
    for line in out.splitlines():
        name, at, count = line.split("\t")
        if name == image and int(at, 16) == address:
            return int(count)
    return 0


def try_taken(p):
    """The program uses what threads' counters are found by."""
    status, said, err, profile = p.run("work", "5", "take-gs", "threads", "2",
                                       "100", "work", "7", "say")
    tap.ok(status == 0 and not err and profile.trouble == THREADS and
           sum(said.values()) - 200 <= p.calls(profile) <= sum(said.values()),
           "%s: a program that uses gs" % p.name,
           [str(status), err, str(profile.trouble), str(p.calls(profile)),
            str(said)])


def try_taken_by_code(p):
    """The same by an instruction, in a library that comes later."""
    source = path("taker.c")
    with open(source, "w") as f:
        f.write("int answer(void) { static long x[64] = {0, 42}; long n; "
                "__asm__ volatile(\"wrgsbase %1; mov %%gs:8, %0\" : "
                "\"=r\"(n) : \"r\"(x)); for (volatile int i = 0; i < 5; "
                "i++); __asm__ volatile(\"wrgsbase %0\" : : "
                "\"r\"(0L)); return n; }\n")
    lib = path("libtaker.so")
    subprocess.run([*m.cc, "-O2", "-shared", "-fPIC", "-o", lib, source],
                   check=True)
    m.make_ready(lib, TALLY, "count", "-o", path("ready"))
    status, out, err = run([TALLY, "count", "-o", path("taker"), p.file,
                            "threads", "2", "10", "load", lib, "3", "work",
                            "9", "say"])
    said = sum(int(n) for n in re.findall(r"^\d+ (\d+)$", out, re.M))
    got = exported(path("taker"), p.name, p.work)
    tap.ok(status == 0 and said == got, "%s: a library that writes gs" %
           p.name, [str(status), "%d, not %d" % (got, said), err])


def try_unseen(p):
    """Nobody tells of threads and children if libc is not rewritten."""
    status, said, err, profile = p.run("work", "3", options=["-l", "none"])
    tap.ok(status == 0 and p.calls(profile) == 3 and
           profile.trouble == UNSEEN, "the C library as it was", [err])


def try_tally(p):
    """The same with counters where `tally count` puts them."""
    lib = path("libanswer.so")
    profile = path("by-tally")
    for words in (["work", "10"], ["threads", "8", "50000"], ["loop", "50"],
                  ["tree", "3"], ["forks", "4"], ["spawn"],
                  ["threads", "3", "500", "tree", "2", "threads", "4", "50"],
                  ["load", lib, "5"], ["load-among", lib, "20"],
                  ["use", lib]):
        if "static" in p.name and lib in words:
            continue
        status, out, err = run([TALLY, "count", "-o", profile, p.file, *words,
                                "say"])
        said = sum(int(n) for n in re.findall(r"^\d+ (\d+)$", out, re.M))
        got = exported(profile, p.name, p.work)
        tap.ok(status == 0 and said == got, "%s: tally count, %s" %
               (p.name, " ".join(words).replace(lib, "a library")),
               ["%d, not %d" % (got, said), err])


def try_chosen(p):
    """Libraries that are not to be measured still tell of threads."""
    profile = path("chosen")
    for words in (["threads", "8", "50000"], ["tree", "2"]):
        status, out, err = run([TALLY, "count", "--libs", "none", "-o",
                                profile, p.file, *words, "say"])
        said = sum(int(n) for n in re.findall(r"^\d+ (\d+)$", out, re.M))
        got = exported(profile, p.name, p.work)
        tap.ok(status == 0 and said == got, "--libs none, " + words[0],
               ["%d, not %d" % (got, said), err])
    out = subprocess.check_output([TALLY, "export", "--format", "tsv",
                                   profile], text=True)
    tap.ok({l.split("\t")[0] for l in out.splitlines()} == {p.name},
           "and are not in the profile")


def try_machine():
    os.mkdir(path(""))
    os.environ["TALLY_CACHE"] = path("cache")
    process = Program("process", "-ldl", "-lpthread")
    fixed = Program("fixed", "-no-pie", "-ldl", "-lpthread")
    static = Program("static", "-static")
    static_pie = Program("static-pie", "-static-pie")
    for each in (process, fixed, static, static_pie):
        try_threads(each)
        try_forks(each)
        try_others(each)
    try_exec(process, fixed)
    try_libraries(process)
    try_libraries(fixed)
    try_ends(process)
    try_ends(static)
    try_kill(process)
    try_streams(process)
    try_space(process)
    try_trim(process)
    try_full(process)
    try_filled(process)
    try_nowhere(process)
    try_replaced(process)
    try_chroot(process)
    for each in (process, fixed, static, static_pie):
        try_tally(each)
    try_chosen(process)
    if m.isa == "x86_64":
        for each in (process, static):
            try_taken(each)
        try_taken_by_code(process)
    try_unseen(process)

for m in MACHINES:
    why = m.missing()
    if why:
        tap.skip(m.isa, why)
    else:
        try_machine()
top.cleanup()
tap.done()
