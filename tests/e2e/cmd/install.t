#!/usr/bin/env python3
"""
install: `make install` puts everything below DESTDIR and PREFIX and nothing
elsewhere; what is there works from there; every command has a manual page that
the others lead to, and troff has nothing to say against them.
"""
import re
import shlex
import shutil
import sys
import tempfile

sys.path.insert(0, "tests/lib")
from answers import *
from cfg_oracle import EMULATED

PREFIX = "/opt/some where"


def installed(t, prefix):
    """Files by their path, below DESTDIR."""
    run("make", "--no-print-directory", "BUILD=" + os.environ.get("BUILD",
        "build"), "DESTDIR=" + t.where, "PREFIX=" + prefix, "install")
    return sorted(os.path.relpath(os.path.join(folder, name), t.where)
                  for folder, _, names in os.walk(t.where) for name in names)


def check_files(t, prefix):
    got = installed(t, prefix)
    below = prefix.strip("/") + "/"
    pages = ["share/man/man%s/%s" % (p[-1], p) for p in
             sorted(os.listdir("doc")) if p.endswith((".1", ".3"))]
    t.same([p for p in got if not p.startswith(below)], [],
           prefix + ": nothing elsewhere")
    names = [p[len(below):] for p in got]
    modules = [p for p in names if p.startswith("lib/tally/")]
    t.same(sorted(set(names) - set(modules)),
           sorted(["bin/tally", *pages, "lib/systemd/system/tally.service",
                   "include/tally.h", "lib/libtally-client.a",
                   "lib/libtally-client.so", "lib/libtally-client.so.1",
                   "lib/pkgconfig/tally-client.pc",
                   "include/tally-replay.h", "lib/libtally-replay.a",
                   "lib/libtally-replay.so", "lib/libtally-replay.so.1",
                   "lib/pkgconfig/tally-replay.pc",
                   "share/bash-completion/completions/tally",
                   "share/zsh/site-functions/_tally",
                   "share/fish/vendor_completions.d/tally.fish"]),
           prefix + ": the program, pages, completions, unit, library")
    unit = open(t.path(below + "lib/systemd/system/tally.service")).read()
    t.ok('ExecStart="%s/bin/tally" daemon run ' % prefix in unit and
         "Restart=always" in unit, prefix + ": a unit that restarts it",
         unit.splitlines())
    built = os.listdir(os.path.join(os.path.dirname(TALLY), "lib/tally"))
    t.same(sorted(os.path.basename(m) for m in modules), sorted(built),
           prefix + ": and what travels inside programs")
    shared = [p for p in got if os.stat(t.path(p)).st_mode & 0o777 !=
              (0o755 if p.endswith("bin/tally") else 0o644)]
    t.same(shared, [], prefix + ": that everybody may read")
    return t.path(below + "bin/tally")


CLIENT = """
#include <stdio.h>
#include <tally.h>
int main(void) { return printf("%d\\n", tally_events()) < 0; }
"""


def package(top, *words):
    """What compilers are told of a library that is installed."""
    return shlex.split(run(
        "pkg-config", "--define-variable=prefix=" + top, "--cflags",
        "--libs", *words,
        env={**os.environ, "PKG_CONFIG_PATH": top + "/lib/pkgconfig"}))


def check_replay(t, prefix):
    """A simulator is built with what is installed."""
    top = t.path(prefix.strip("/"))
    example = "doc/insns-by-image.c"
    for how, words in (("-Wl,-rpath," + top + "/lib", []),
                       ("-static", ["--static"])):
        run("cc", "-o", t.path("simulates"), example,
            *package(top, *words, "tally-replay"), how)
        p = subprocess.run([t.path("simulates"), example], text=True,
                           stderr=subprocess.PIPE)
        t.ok(p.returncode == 2 and example in p.stderr,
             prefix + ": a simulator, " + how[:7], [p.stderr])


def check_client(t, prefix):
    """A program is built with what is installed, and answered."""
    top = t.path(prefix.strip("/"))
    cc = shutil.which("cc")
    if EMULATED or not cc or not shutil.which("pkg-config"):
        t.skip(prefix + ": the libraries", "no compiler, no pkg-config")
        return
    check_replay(t, prefix)
    with open(t.path("asks.c"), "w") as f:
        f.write(CLIENT)
    words = package(top, "tally-client")
    for how in ["-Wl,-rpath," + top + "/lib"], ["-static"]:
        run(cc, "-o", t.path("asks"), f.name, *words, *how)
        env = {**os.environ, "XDG_CACHE_HOME": t.where}
        got = run(top + "/bin/tally", "events", "--online", "-e",
                  "insns,calls", "--output", "/dev/null", t.path("asks"),
                  env=env)
        t.same([run(t.path("asks")), got], ["-1\n", "2\n"],
               prefix + ": a program asks, " + how[0][:7])


def check_runs(t, tally):
    """It finds its modules beside itself."""
    if EMULATED:
        t.skip("a program is counted", "an emulated tally runs no program")
        return
    env = {**os.environ, "XDG_CACHE_HOME": t.where}
    run(tally, "count", "--quiet", "-o", t.path("true.tally"), "/bin/true",
        env=env)
    out = run(tally, "report", "--by", "image", t.path("true.tally"))
    t.ok(re.search(r"^ +[\d,]+ .* true$", out, re.M), "a program is counted",
         out.splitlines())


def check_pages(t):
    commands = re.findall(r"^  (\w+)  +(.*)", run(TALLY, "help"), re.M)
    front = open("doc/tally.1").read()
    for name, summary in commands:
        page = "doc/tally-%s.1" % name
        text = open(page).read() if os.path.exists(page) else ""
        t.ok(r"tally-%s \- " % name in text, "a page: " + name)
        listed = re.search(r"\.BR tally-%s \(1\)\n(.*)\." % name, front)
        t.same(listed and listed[1].lower(), summary.lower(),
               "tally(1) has " + name)
    for page in sorted(p for p in os.listdir("doc")
                       if p.endswith((".1", ".3"))):
        text = open("doc/" + page).read()
        lost = [r for r in re.findall(r"^\.BR (tally[-\w]*) \((\d)\)", text,
                                      re.M)
                if not os.path.exists("doc/%s.%s" % r)]
        t.same(lost, [], page + ": what it leads to is there")
        if shutil.which("groff"):
            p = subprocess.run(["groff", "-man", "-ww", "-z", "-Tutf8",
                                "doc/" + page], text=True,
                               stderr=subprocess.PIPE)
            t.same(p.stderr, "", page + ": troff takes it")


with tempfile.TemporaryDirectory() as where:
    t = Asker(where)
    for prefix in ("/usr/local", PREFIX):
        check_runs(t, check_files(t, prefix))
        check_client(t, prefix)
        shutil.rmtree(where)
        os.mkdir(where)
    check_pages(t)
    t.done()
