#!/usr/bin/env python3
"""
many-images: 1,500 images have samples, 300 were counted, and a process may have
256 files open, or 64: no name is lost, in any answer, and memory is for what is
shown. Files and debug information are open only while they are read.
"""
import json
import os
import re
import resource
import subprocess
import sys
import tempfile

sys.path.insert(0, "tests/lib")
from rewrite_run import *

TALLY = os.path.abspath(TALLY)
MAKE = os.path.join(os.path.dirname(TALLY), "tools/make-database")
SANITIZED = b"__asan_init" in open(TALLY, "rb").read()
IMAGES = 1500
FILES = 256
COUNTED = 300
COUNTED_FILES = 64
# what is exported is found by its hash: the name that is replaced is not
LIBRARY = """
__attribute__((noinline)) static int name_0000(int x)
{
	return x * 3;
}
int entry(int x)
{
	return name_0000(x) + 1;
}
"""
PROGRAM = """
#include <dlfcn.h>
#include <stdio.h>
int main(int argc, char **argv)
{
	char name[64];
	int sum = 0;
	for (int i = 0; i < %d; i++) {
		int (*f)(int);
		void *l;
		snprintf(name, sizeof name, "./lib%%04d.so", i);
		l = dlopen(name, RTLD_NOW);
		f = (int (*)(int))dlsym(l, "entry");
		sum += f(i);
		dlclose(l);
	}
	return sum == 0;
}
""" % COUNTED
MEMORY = 96 << 20  # bytes
tap = Tap()


def template():
    """a library of one function, whose name and build-id are replaced"""
    with open("one.c", "w") as f:
        f.write(LIBRARY)
    run("gcc", "-O1", "-g", "-shared", "-fPIC",
        "-Wl,--build-id=0x" + "ab" * 20, "-o", "one.so", "one.c")
    at = re.search(r"(\w+) t name_0000$", run("nm", "one.so"), re.M).group(1)
    with open("one.so", "rb") as f:
        return f.read(), int(at, 16)


def images():
    data, at = template()
    text = "epoch 0 600 many\nevent cpu-clock 1000 0\n"
    for i in range(IMAGES):
        path = os.path.abspath("lib%04d.so" % i)
        build = b"%020d" % i
        with open(path, "wb") as f:
            f.write(data.replace(b"name_0000", b"name_%04d" % i)
                    .replace(b"\xab" * 20, build))
        text += "build %s\nimage 0 %s\nhit %d 10\n" % (build.hex(), path, at)
    subprocess.run([MAKE, "many.db"], input=text, text=True, check=True)


def ask(*words, files=FILES):
    """what is answered, messages, and the most memory in use"""
    def limits():
        resource.setrlimit(resource.RLIMIT_NOFILE, (files, files))

    with open("output", "w") as out, open("errors", "w") as err:
        p = subprocess.Popen([TALLY, *words], stdout=out, stderr=err,
                             preexec_fn=limits)
        _, status, used = os.wait4(p.pid, 0)
    p.returncode = os.waitstatus_to_exitcode(status)
    with open("output") as out, open("errors") as err:
        return out.read(), err.read(), used.ru_maxrss << 10


def try_answer(words, names, images=IMAGES, files=FILES):
    text, err, memory = ask(*words, files=files)
    found = set(names(text))
    lost = [n for n in ("name_%04d" % i for i in range(images))
            if n not in found]
    tap.ok(not lost, "%s: all names" % " ".join(words),
           ["%d lost, such as %s" % (len(lost), lost[:3]), err[:300]])
    tap.ok(SANITIZED or memory <= MEMORY,
           "%s: at most %d MB" % (" ".join(words), MEMORY >> 20),
           ["%d" % memory])
    tap.ok(not err, "%s: and no complaint" % " ".join(words), [err[:300]])


def any_name(text):
    return re.findall(r"\bname_\d{4}\b", text)


def lines_of(text):
    return len([r for r in json.loads(text)
                if r.get("file", "").endswith("one.c") and r["line"] > 1])


def try_samples():
    try_answer(["report", "many.db"], any_name)
    try_answer(["report", "--json", "many.db"],
               lambda text: [r["procedure"] for r in json.loads(text)])
    try_answer(["export", "--format", "callgrind", "many.db"], any_name)
    text, err, _ = ask("report", "--by", "line", "--json", "many.db")
    tap.ok(lines_of(text) == IMAGES, "report --by line: all lines",
           ["%d" % lines_of(text), err[:300]])


def try_counts():
    with open("main.c", "w") as f:
        f.write(PROGRAM)
    run("gcc", "-O1", "-o", "main", "main.c")
    run(TALLY, "count", "--quiet", "-o", "main.tally", "./main")
    try_answer(["report", "main.tally"], any_name, COUNTED, COUNTED_FILES)
    try_answer(["export", "--format", "callgrind", "main.tally"], any_name,
               COUNTED, COUNTED_FILES)
    text, err, _ = ask("report", "--by", "line", "--json", "main.tally",
                       files=COUNTED_FILES)
    tap.ok(lines_of(text) >= COUNTED, "report --by line: all lines",
           ["%d" % lines_of(text), err[:300]])


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    os.environ["XDG_CACHE_HOME"] = folder + "/cache"
    images()
    try_samples()
    try_counts()
tap.done()
