#!/usr/bin/env python3
"""
launch/follow: with `tally count --follow` programs that a program executes
run rewritten, too, and see the world that they see without; what cannot be
executed fails as it does without, and what cannot be followed runs as it is.

In an emulator programs cannot execute programs of their machine at all, but
tally can: it is a program of this one.
"""
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, "tests/lib")
from launch import *

tap = Tap()
top = tempfile.TemporaryDirectory()
where = os.path.realpath(top.name)
CACHE = os.path.join(where, "the-cache")
os.environ["TALLY_CACHE"] = CACHE
for name in ("LD_AUDIT", "LD_PRELOAD", "LD_LIBRARY_PATH", "QEMU_LD_PREFIX"):
    os.environ.pop(name, None)
FOLLOW = COUNT + ["--follow"]


def path(*names):
    return os.path.join(where, *names)


def write(name, text, mode=0o755):
    with open(path(name), "w") as f:
        f.write(text)
    os.chmod(path(name), mode)
    return path(name)


def cold():
    shutil.rmtree(CACHE, ignore_errors=True)


def followed(words, count=FOLLOW, **more):
    return run(count + words, **more)


def same(name, words, **more):
    """Followed or not, all is the same."""
    want, got = run(words, **more), followed(words, **more)
    tap.ok(want == got, name, differences(want[1], got[1]) +
           differences(want[2], got[2]) + ["status %d and %d" % (want[0],
                                                               got[0])])


def answers(name, want, words, **more):
    got = followed(words, **more)
    tap.ok(got == (0, want, ""), name, list(map(str, got)))


# which needs more memory than there is
SANITIZED = b"__asan_init" in open(TALLY, "rb").read()
YES, NO = "from there: yes\n", "from there: no\n"
WAYS = ["execve", "execvp", "execveat", "execveat-kept", "nofollow",
        "fexecve", "fexecve-path", "thread", "spawn", "spawnp", "vfork"]


def try_ways(ex, world):
    for way in WAYS:
        end = "" if way in WAYS[:8] else "ended 0\n"
        end = ("shared 1\n" if way == "vfork" else "") + end
        answers(way + ": rewritten", YES + end, [ex, way, ex, "where", CACHE])
        same(way + ": the world", [ex, way, world, "a b", "", "*"])
    same("no environment", [ex, "bare", world])
    same("the environment is a null pointer", [ex, "null", world])
    same("no arguments at all", [ex, "no-words", ex])
    same("many arguments", [ex, "many", ex, "names"])
    answers("many arguments: rewritten", YES, [ex, "many", ex, "where", CACHE])
    same("a relative name", ["./exec", "execve", "./world"], cwd=where)
    same("in PATH", [ex, "execvp", "world"],
         env=dict(os.environ, PATH=where + ":" + os.environ["PATH"]))
    os.symlink("exec", path("other"))
    same("by a link", [ex, "execve", path("other"), "names"])
    same("a status", [ex, "spawn", world, "exit", "77"])
    same("a signal", [ex, "vfork", world, "die", "9"])
    same("its own file", [ex, "execve", "/proc/self/exe", "names"])
    answers("its own file: rewritten", YES,
            [ex, "execve", "/proc/self/exe", "where", CACHE])
    answers("a program of a program", YES, [ex, "execve", ex, "execve", ex,
                                            "execve", ex, "where", CACHE])
    cold()
    answers("threads, with an empty cache", "wrong 0\n",
            [ex, "stress", world, "10"])
    got = followed([ex, "execve", ex, "where", CACHE], COUNT)
    tap.ok(got == (0, NO, ""), "not asked for", list(map(str, got)))


def try_refused(ex):
    """What the kernel refuses is refused, for the same reason."""
    with open(ex, "rb") as f:
        good = f.read()

    def spoil(name, at, byte):
        with open(path(name), "wb") as f:
            f.write(good[:at] + byte + good[at + len(byte):])
        os.chmod(path(name), 0o755)

    write("plain", "text", 0o644)
    write("text", "echo text\n")
    write("empty", "")
    write("no-interpreter", "#!/no/such\n")
    write("empty-line", "#!\n")
    write("long-line", "#!/" + "x" * 300 + "\n")
    write("round", "#!%s\n" % path("round"))
    spoil("loader", good.index(b"/ld-linux"), b"/no-linux")
    spoil("machine", 18, b"\xf3")
    spoil("segments", 54, b"\7")
    with open(path("short"), "wb") as f:
        f.write(good[:40])
    os.chmod(path("short"), 0o755)
    for name in ("plain", "text", "empty", "no-interpreter", "empty-line",
                 "long-line", "round", "loader", "machine", "segments",
                 "short", "none", ".", "plain/x", "x" * 300):
        same("execve " + name[:20], [ex, "execve", path(name), "names"])
    for name in ("plain", "text", "loader", "none"):
        same("vfork " + name, [ex, "vfork", path(name), "names"])
    same("a text by the shell", [ex, "execvp", path("text")])
    same("a link that must not be followed", [ex, "nofollow", path("other"),
                                              "names"])
    for way in ("bad-name", "bad-words", "bad-variables", "bad-word",
                "too-many"):
        same(way, [ex, way, ex])
    shutil.copy(ex, path("busy"))
    same("a file that is written", [ex, "busy", path("busy"), "names"])


def try_scripts(ex, world):
    write("s1", "#!%s  a b \nx" % world)
    write("s2", "#! %s" % path("s1"))
    for script in ("s1", "s2"):
        for way in ("execve", "spawn", "vfork", "execveat-kept"):
            same("%s %s" % (way, script), [ex, way, path(script), "c"])
    sh = write("s3", "#!/bin/sh\nexec %s where %s\n" % (ex, CACHE))
    answers("a shell script", YES, [ex, "execve", sh])
    answers("a shell script is the first", YES, [sh])
    answers("a shell's children", 2 * YES, ["sh", "-c", "%s; %s | cat" %
                                            (sh, sh)])
    same("a script by a descriptor", [ex, "fexecve", path("s1")])


def try_unfit(ex):
    """What cannot be rewritten runs as it is."""
    if os.geteuid() == 0:
        suid = shutil.copy(ex, path("suid"))
        os.chown(suid, 65534, 65534)
        os.chmod(suid, 0o4755)
        os.chmod(where, 0o755)
        same("set-user-id", [ex, "execve", suid, "names"])
        answers("set-user-id: not rewritten", NO,
                [ex, "execve", suid, "where", CACHE])
        write("s4", "#!%s names\n" % suid)
        same("a script of that", [ex, "execve", path("s4")])
    same("under a debugger", [ex, "traced", ex, "names"])
    gone = shutil.copy(ex, path("gone"))
    answers("a file without a name", NO,
            [ex, "unlinked", gone, "where", CACHE])
    answers("no descriptors are left", NO, [ex, "full", ex, "where", CACHE])


def copy_tally(folder):
    os.mkdir(path(folder))
    shutil.copytree(os.path.join(os.path.dirname(TALLY), "lib"),
                    path(folder, "lib"))
    return shutil.copy(TALLY, path(folder))


def try_our_failures(ex):
    """Nothing of ours that fails is in the way of the program."""
    def after(name, command, want=None, **more):
        words = ["sh", "-c", command + "; cd %s; exec ./exec where %s" %
                 (where, CACHE)]
        got = followed(words, **more)
        tap.ok(got[0] == 0 and got[2] == "" and got[1] in (want or (YES, NO)),
               name, list(map(str, got)))

    memory = [] if SANITIZED else ["-v 60000", "-v 8000", "-d 4000"]
    for what in memory + ["-f 0", "-t 1", "-n 4", "-s 64"]:
        cold()
        followed(["sh", "-c", ":"])
        after("ulimit " + what, "ulimit " + what)
    after("the cache is not safe any more", "chmod 777 " + CACHE, [NO])
    cold()
    same("and the world is as ever", ["sh", "-c", "cd %s; test -d %s && chmod "
                                      "777 %s; exec ./world" % (where, CACHE,
                                                                CACHE)])
    cold()
    after("the cache is gone", "mv %s %s.old" % (CACHE, CACHE), [NO])
    shutil.rmtree(CACHE + ".old")
    own = copy_tally("own")
    after("tally is gone", "rm " + own, [NO], count=[own] + FOLLOW[1:])
    after("LD_LIBRARY_PATH of the program", "export LD_LIBRARY_PATH=/nowhere "
          "LD_BIND_NOW=1", [YES])


def try_state(ex, world):
    """Descriptors, signals, limits, folder: as the parent left them."""
    for name, command in (
            ("no stderr", "exec %s 2>&-"), ("no streams", "exec %s names "
                                            "<&- >&- 2>&-"),
            ("descriptors", "exec %s 5</dev/null 9>&1"),
            ("another folder", "cd / && exec %s"),
            ("ignored signals", "trap '' USR1 CHLD TERM; exec %s"),
            ("limits", "ulimit -n 50 -c 0; umask 077; exec %s"),
            ("variables", "LD_AUDIT= TALLY_LAUNCH=x exec %s"),
            ("in the background", "%s & wait")):
        same(name, ["sh", "-c", command % world])
    cold()
    same("with an empty cache", ["sh", "-c", "trap '' CHLD; %s 5</dev/null "
                                 "2>&-" % world])


def try_big():
    """Programs that nobody here wrote execute others."""
    for name, *words in (
            ("bash", "bash", "-c", "for i in 1 2; do x=$(echo $i | tr 1 3); "
             "echo $x; done; env -i sh -c 'echo $0 $PATH'; exec ls /"),
            ("python3", "/usr/bin/python3", "-c", "import subprocess as s, sys"
             "\nprint(s.check_output(['sh', '-c', 'echo $$ >/dev/null; ls /'])"
             ")\nprint(s.run([sys.executable, '-c', 'import sys; "
             "print(sys.executable)'], capture_output=True))\n"
             "try: s.run(['/no/such'])\nexcept OSError as e: print(e)"),
            ("perl", "perl", "-e", "print `perl -e 'print 5'`; "
             "system('true') and die; exec 'echo', 'done'"),
            ("xargs", "sh", "-c", "ls /etc | xargs -n 20 -P 2 echo | wc -w; "
             "find /etc -maxdepth 1 -exec echo {} + | wc -w")):
        if shutil.which(words[0]):
            same(name, words)
        else:
            tap.skip(name, "no " + words[0])


def try_native(m):
    for program, source in (("exec", "exec.c"), ("world", "world.c")):
        m.build(path(program), source, "-lpthread")
    ex, world = path("exec"), path("world")
    try_ways(ex, world)
    try_refused(ex)
    try_scripts(ex, world)
    try_unfit(ex)
    try_our_failures(ex)
    try_state(ex, world)
    try_big()


def guest(text):
    """Without what an emulator passes through from its own process, and
    without the order of variables, which it changes."""
    return "".join(sorted(l for l in text.splitlines(True)
                          if not l.startswith("environ ")))


def try_emulated(m):
    """Gates in code that was moved. What is executed is compared with what
    the emulator makes of it: by itself it refuses to execute it."""
    ex = m.build(path("exec-" + m.isa), "exec.c", "-lpthread")
    world = m.build(path("world-" + m.isa), "world.c")

    def both(name, words, argv0, plain, end="", execfn=None):
        status, out, err = run(m.plain(plain, argv0))
        out = out.replace("execfn '%s'" % plain[0], "execfn '%s'" %
                          (execfn or plain[0]))
        want = status, guest(out + end), err
        got = followed(words)
        got = got[0], guest(got[1]), got[2]
        tap.ok(got == want, "%s: %s" % (m.isa, name),
               differences(want[1], got[1]) + got[2].splitlines())

    for way in ("execve", "execvp", "thread", "spawn", "spawnp", "vfork"):
        end = "ended 0\n" if way in ("spawn", "spawnp", "vfork") else ""
        # which makes a fork of vfork
        before = "shared 0\n" if way == "vfork" else ""
        answers("%s: %s: rewritten" % (m.isa, way), YES + before + end,
                [ex, way, ex, "where", CACHE])
        if not before:
            both(way, [ex, way, world, "a b", ""], "zero",
                 [world, "a b", ""], end=end)
    answers(m.isa + ": a program of a program", YES,
            [ex, "execve", ex, "execve", ex, "where", CACHE])
    answers(m.isa + ": its own file", "argv0 'zero' execfn '/proc/self/exe' "
            "comm 'qemu-%s' user %d\n" % (m.isa, os.geteuid()),
            [ex, "execve", "/proc/self/exe", "names"])
    answers(m.isa + ": its own file again", "exe '%s'\n" % ex,
            [ex, "execve", "/proc/self/exe", "execve", "/proc/self/exe",
             "exe"])
    write("s9", "#!%s a b\n" % world)
    both("a script", [ex, "execve", path("s9"), "c"], world,
         [world, "a b", path("s9"), "c"], execfn=path("s9"))
    write("plain", "text", 0o644)
    write("no-interpreter", "#!/no/such\n")
    write("empty", "")
    for name in ("none", ".", "plain", "no-interpreter", "empty"):
        got = followed([ex, "execve", path(name)])
        want = run(m.plain([ex, "execve", path(name)]))
        tap.ok(got == want, "%s: execve %s" % (m.isa, name),
               differences(want[1], got[1]))
    suid = shutil.copy(ex, path("suid-" + m.isa))
    os.chmod(suid, 0o4755)
    got = followed([ex, "execve", suid, "names"], FOLLOW + ["--strict"])
    tap.ok(got[0] == 125 and "set-user-id" in got[2] and not got[1],
           m.isa + ": set-user-id, strict", got)
    got = followed([ex, "execve", ex, "where", CACHE], FOLLOW + ["--strict"])
    tap.ok(got == (0, YES, ""), m.isa + ": strict", got)
    tally = copy_tally("part")
    os.unlink(path("part/lib/tally/entry-%s.bin" % m.isa))
    static = m.build(path("static"), "exec.c", "-static")
    cold()
    got = followed([static, "where", CACHE], [tally] + FOLLOW[1:])
    tap.ok(got[:2] == (0, YES) and "static programs" in got[2],
           m.isa + ": a static program that cannot follow", got)


got = run(COUNT + ["--follow", "--libs", "none", "true"])
tap.ok(got[0] == 125 and "--libs" in got[2], "--follow without libc", got)
for m in machines():
    why = m.missing()
    if why:
        tap.skip(m.isa, why)
    elif m.isa == HOST:
        try_native(m)
    else:
        try_emulated(m)
top.cleanup()
tap.done()
