#!/usr/bin/env python3
"""
short: what `tally count` costs programs that are large and do little. Most of
their code never runs, and must not cost anything: neither in the launcher, nor
in the profile, nor on disk for every thread.

The claims, all files being in the cache: at most 0.1 s of user and system time
over native, with --quiet (the listing of what ran most unpacks what ran, and
is another column); a finished profile of at most 20 MB; and on disk, while the
program runs, at most 2 MB for every further thread. Times are the least of
several rounds, both in turns.
"""
import os
import shutil
import subprocess
import sys
import tempfile

TALLY = os.path.abspath(os.path.join(os.environ.get("BUILD", "build"),
                                     "tally"))
ROUNDS = int(os.environ.get("ROUNDS", 9))
MOST_SECONDS, MOST_PROFILE, MOST_THREAD = 0.1, 20e6, 2e6
LARGE = ["libjvm.so", "libLLVM-14.so.1"]

THREADS = r"""
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
static void *wait(void *arg) { pause(); return arg; }
int main(int argc, char **argv)
{
	pthread_t t;
	if (!dlopen(argv[1], RTLD_NOW)) return 1;
	for (int i = atoi(argv[2]); i > 0; i--)
		pthread_create(&t, NULL, wait, NULL);
	puts("ready"), fflush(stdout);
	getchar();
	_exit(argc != 3);
}
"""


def cost(words):
    """User and system seconds of a command and what it started."""
    p = subprocess.Popen(words, stdout=subprocess.DEVNULL,
                         stderr=subprocess.DEVNULL)
    _, status, used = os.wait4(p.pid, 0)
    p.returncode = status
    if status:
        sys.exit("short: %s: status %d" % (words, status))
    return used.ru_utime + used.ru_stime


def programs(where):
    source = os.path.join(where, "empty.c")
    with open(source, "w") as f:
        f.write("int main(void) { return 0; }\n")
    cc1 = subprocess.run(["gcc", "-print-prog-name=cc1"], text=True,
                         stdout=subprocess.PIPE).stdout.strip()
    return [["clang", "--version"], ["ffmpeg", "-version"],
            ["node", "-e", "0"], ["java", "-version"],
            [cc1, "-quiet", source, "-o", "/dev/null"], ["php", "-r", "0;"]]


def compare(words, where):
    """Prints a row; whether it is as claimed"""
    name = os.path.basename(words[0])
    if not shutil.which(words[0]):
        print("%-8s is not installed" % name)
        return True
    profile = os.path.join(where, name + ".tally")
    ours = [TALLY, "count", "-o", profile]
    cost(ours + words)
    plain, quiet, loud = [], [], []
    for _ in range(ROUNDS):
        plain.append(cost(words))
        quiet.append(cost(ours + ["--quiet"] + words))
        loud.append(cost(ours + words))
    over, size = min(quiet) - min(plain), os.path.getsize(profile)
    print("%-8s %8.3f %8.3f %8.3f %8.3f %11.1f" % (
        name, min(plain), min(quiet), over, min(loud) - min(plain),
        size / 1e6))
    return over <= MOST_SECONDS and size <= MOST_PROFILE


def find_large():
    """A large library, wherever it is"""
    for name in LARGE:
        found = subprocess.run(["find", "/usr/lib", "-name", name], text=True,
                               stdout=subprocess.PIPE).stdout.split()
        if found:
            return found[0]
    return None


def live_size(program, library, threads, where):
    """Bytes on disk of the profile of a running program"""
    profile = os.path.join(where, "live.tally")
    p = subprocess.Popen([TALLY, "count", "--quiet", "-o", profile, program,
                          library, str(threads)], text=True,
                         stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    if p.stdout.readline() != "ready\n":
        sys.exit("short: cannot load " + library)
    size = os.stat(profile).st_blocks * 512
    p.communicate("\n")
    return size


def threads(where):
    """Prints what a further thread takes; whether it is as claimed"""
    program, library = os.path.join(where, "threads"), find_large()
    if not library:
        print("no large library is installed")
        return True
    with open(program + ".c", "w") as f:
        f.write(THREADS)
    subprocess.run(["gcc", "-O1", "-pthread", "-o", program, program + ".c"],
                   check=True)
    live_size(program, library, 1, where)
    few, many = (live_size(program, library, n, where) for n in (1, 17))
    each = (many - few) / 16
    print("a thread of a program with %s: %.2f MB on disk" % (
        os.path.basename(library), each / 1e6))
    return each <= MOST_THREAD


with tempfile.TemporaryDirectory() as tmp:
    os.environ["TALLY_CACHE"] = os.path.join(tmp, "cache")
    print("%-8s %8s %8s %8s %8s %11s" % ("seconds", "native", "tally", "over",
                                         "listing", "MB profile"))
    good = [compare(words, tmp) for words in programs(tmp)]
    good.append(threads(tmp))
sys.exit(not all(good))
