#!/usr/bin/env python3
"""
events/query: what `tally query` says of a program that runs. A thread that does
the same round for ever is asked at any moment: what it says of all events at
once must be a point of the way that single steps through the original go, some
rounds and a part of one behind its beginning. Threads that sleep do not notice
that they are asked.
"""
import collections
import json
import os
import re
import signal
import subprocess
import sys
import tempfile

sys.path.insert(0, "tests/lib")
from query_run import *
from patience import until

tap = Tap()
PERIODIC = "../events/periodic.c"
COMERS = "../events/comers.c"


def on_the_way(name, *flags):
    here = room(name)
    exe = build(here, name, [PERIODIC], "-no-pie", *NOW, *flags)
    way = list(stepped_ways(here, exe, "1"))[1]
    if way.trouble:
        return [("steps", way.trouble)]
    r = Running(here, exe, "--online", "--libs", "none")
    # one process asks again and again, then new ones do
    said = objects(r.query("--json", "--every", "0.0001", "--times",
                           "600")[1])
    for _ in range(20):
        said += objects(r.query("--json")[1])
    out, bad, seen = r.end(), [], collections.defaultdict(list)
    for x in said:
        for t in x["processes"][0]["threads"]:
            seen[t["tid"]].append(list(t["events"].values()))
    workers = 0
    for vectors in seen.values():
        if vectors[-1][0] < 100000:
            continue
        workers += 1
        bad += way.judge(vectors)
    bad += [] if len(said) >= 600 and workers == 2 else [
        "%d answers, %d workers" % (len(said), workers)]
    return [("points of the way", bad),
            ("sleepers sleep", [] if "disturbed 0\n" == out[1] else
             [str(out)])]


# --- what is said, and to whom

KEYS = {"events", "processes", "not_measured"}


def shape(exe, here):
    r = Running(here, exe, "--online", args=["1"])
    one, all_ = (objects(r.query("--json", pid=p)[1])
                 for p in (r.pid, r.p.pid))
    bad = []
    for x in one + all_:
        p = x["processes"]
        bad += [] if KEYS <= set(x) and list(x["events"]) == ASKED and \
            len(p) == 1 and p[0]["pid"] == r.pid and \
            len(p[0]["threads"]) == 4 and \
            {"tid", "events"} <= set(p[0]["threads"][0]) else [str(x)]
        bad += Told(0, "", "", json.dumps(x)).sums()
    bad += [] if len(one) == len(all_) == 1 else ["not one object"]
    status, text, err = r.query()
    bad += [] if status == 0 and [l.split()[1] for l in text.splitlines()[
        :len(ASKED)]] == ASKED else [text + err]
    status, text, err = r.query("--every", "0.01", "--times", "3")
    bad += [] if status == 0 and text.count("/s") == 2 * len(ASKED) else [
        text + err]
    r.end()
    status, text, err = r.query()
    bad += [] if status and "there is no process" in err and not text else [
        err]
    return [("what is said", bad)]


def strangers(exe, here):
    out = []
    for pid, want in (("x", "no number"), ("0", "no number"),
                      (str(os.getpid()), "counts nothing")):
        p = subprocess.run([TALLY, "query", pid], stdout=subprocess.PIPE,
                           stderr=subprocess.PIPE, text=True)
        out += [] if p.returncode and want in p.stderr and not p.stdout else [
            "%s: %s" % (pid, p.stderr)]
    if not os.getuid() and shutil.which("setpriv"):
        r = Running(here, exe, "--online", args=["1"])
        # somebody else has to be able to run it at all
        with tempfile.TemporaryDirectory() as free:
            os.chmod(free, 0o755)
            shutil.copy(TALLY, free + "/tally")
            for pid in (r.pid, r.p.pid):
                p = subprocess.run(
                    ["setpriv", "--reuid", "65534", "--regid", "65534",
                     "--clear-groups", free + "/tally", "query", str(pid)],
                    stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                    cwd="/")
                out += [] if p.returncode and "another user" in p.stderr and \
                    not p.stdout else [p.stdout + p.stderr]
        out += [] if r.end()[0] == 0 else ["it did not end well"]
    return [("whom it does not answer", out)]


def killed(exe, here):
    """It goes while it is asked: that is said, and nothing hangs."""
    bad = []
    for _ in range(3):
        r = Running(here, exe, "--online", args=["2"])
        q = subprocess.Popen([TALLY, "query", "--json", "--every", "0.0001",
                              str(r.pid)], stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE, text=True)
        q.stdout.readline()
        os.kill(r.pid, signal.SIGKILL)
        text, err = finish(q)
        status = r.end()[0]
        bad += [] if status == 128 + 9 and ("ended" in err or "gone" in err) \
            and q.returncode in (0, 1) else [
                "%s %s %s" % (status, q.returncode, err)]
    return [("killed meanwhile", bad)]


def comers(exe, here):
    """What threads did that are gone stays counted."""
    exe = build(here, "comers", [COMERS], "-O1")
    r = Running(here, exe, "--online", "--libs", "none", events=["insns"])
    said = objects(r.query("--json", "--every", "0.0005", "--times",
                           "1000")[1])
    status = r.end()[0]
    # of a thread that is just being made it may not be known where it is
    counts = [x["events"]["insns"] for x in said if
              x["events"]["insns"] is not None]
    bad = ["%d, then %d" % (a, b) for a, b in zip(counts, counts[1:])
           if a > b]
    bad += [] if len(said) == 1000 and counts and not status else [
        "%d answers, status %d" % (len(said), status)]
    return [("threads that come and go", bad)]


def truncated(exe, here):
    """A profile that is cut while it is read is an error, and no end."""
    bad = []
    for size in 0, 65536, 65536 + 100, 65536 + 8192:
        for how in (["--online"], ["--stop-at", str(1 << 60)],
                    ["--timeout-insns", str(1 << 60)]):
            r = Running(here, exe, *how, args=["1"])
            maps = open("/proc/%d/maps" % r.pid).read()
            profile = re.search(r" rw-s 00000000 .*?(/.*)", maps)[1]
            q = subprocess.Popen(
                [TALLY, "query", "--every", "0.0001", str(r.pid)],
                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            q.stdout.readline()
            os.truncate(profile, size)
            _, err = finish(q)
            status = r.end()[0]
            bad += [] if q.returncode >= 0 and err and status >= 0 else [
                "%d %s: %s %s %s" % (size, how, q.returncode, status, err)]
    return [("a profile that is cut", bad)]


ENDING = """
#include <pthread.h>
#include <stdio.h>
static volatile unsigned long sink;
static void *work(void *arg)
{
	for (unsigned i = 0; i < 1000000; i++)
		sink++;
	getchar();
	return arg;
}
int main(void)
{
	pthread_t t;
	pthread_create(&t, NULL, work, NULL);
	puts("begins");
	fflush(stdout);
	pthread_join(t, NULL);
	puts("ended");
	fflush(stdout);
	getchar();
	return 0;
}
"""


def ended(here):
    """What a thread has counted is there when it is not any more."""
    with open(here + "/ending.c", "w") as f:
        f.write(ENDING)
    run("cc", "-O1", "-pthread", "-o", here + "/ending", f.name)
    r = Running(here, here + "/ending", "--online", "--libs", "none",
                events=["insns"])
    q = subprocess.Popen([TALLY, "query", "--json", "--every", "0.01",
                          str(r.pid)], stdout=subprocess.PIPE,
                         stderr=subprocess.PIPE, text=True)

    def answer():
        text = ""
        while not text.endswith("\n}\n"):
            text += q.stdout.readline() or "\n}\n"
        return objects(text)[0]["events"]["insns"]

    seen = [answer(), answer()]
    r.p.stdin.write("\n")
    r.p.stdin.flush()
    r.p.stdout.readline()
    seen += [answer() for _ in range(5)]
    q.terminate()
    q.communicate()
    r.end()
    return [("threads that have ended", [] if seen == sorted(seen) and
             seen[-1] > 2000000 else [str(seen)])]


def jobs():
    here = room("others")
    exe = build(here, "periodic", [PERIODIC], "-O2")
    for level in ("-O0", "-O2"):
        yield "way" + level, on_the_way, "way" + level, level
    for f in shape, strangers, killed, comers, truncated:
        yield f.__name__, f, exe, room(f.__name__)
    yield "ended", ended, room("ended")


if EMULATED:
    tap.skip("queries", "an emulator has no ptrace()")
    tap.done()
sys.argv[1:] = [HOST, *sys.argv[1:]]
test_all(tap, jobs)
