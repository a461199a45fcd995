#!/usr/bin/env python3
"""
launch/run: a program run by `tally count` sees the world that it sees without,
and who waits for it sees its status: arguments, environment, descriptors,
signals, scripts, PATH, what is refused.
"""
import os
import pty
import select
import shutil
import signal
import struct
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
os.environ["TALLY_CACHE"] = os.path.join(where, "cache")
for name in ("LD_AUDIT", "LD_PRELOAD", "LD_LIBRARY_PATH", "QEMU_LD_PREFIX"):
    os.environ.pop(name, None)


def path(*names):
    return os.path.join(where, *names)


def write(name, text, mode=0o755):
    with open(path(name), "w") as f:
        f.write(text)
    os.chmod(path(name), mode)
    return path(name)


def in_order(lines):
    """An emulator turns the environment round: an emulated tally's once more"""
    return sorted(lines) if EMULATED else lines


def guest(result):
    """Without what an emulator passes through from its own process."""
    status, out, err = result
    lines = [l for l in out.splitlines(True) if not l.startswith("environ ")]
    return status, "".join(in_order(lines)), err


def same(name, plain, ours, messages=True, **more):
    """Both print the same and end alike."""
    a, b = run(plain, **more), run(ours, **more)
    if not messages:
        a, b = (*a[:2], ""), (*b[:2], "")
    if plain[0].startswith("qemu-"):
        a, b = guest(a), guest(b)
    tap.ok(a == b, name, differences(a[1], b[1]) + differences(a[2], b[2]) +
           ["status %d and %d" % (a[0], b[0])])


def status(name, want, says, words, **more):
    got, out, err = run(words, **more)
    tap.ok(got == want and says in err, name,
           ["status %d, want %d" % (got, want)] + err.splitlines())


def try_world(m, world):
    def both(name, words, argv0=None, **more):
        same("%s: %s" % (m.isa, name), m.plain(words, argv0),
             COUNT + list(words), **more)

    both("the world", [world])
    both("arguments", [world, "", "a b", "--help", "--", "*", "\u00fc"])
    both("another folder", ["../world-" + m.isa], cwd=os.path.join(where,
                                                                "sub"))
    both("an empty environment", [world], env={
        "PATH": os.environ["PATH"], "TALLY_CACHE": os.environ["TALLY_CACHE"]})
    both("our names in the user's environment", [world], env=dict(
        os.environ, TALLY_LAUNCHED="1", XD_AUDI="2", LD_AUDITOR="3"))
    both("many variables", [world], env=dict(
        os.environ, **{"V%d" % i: "x" * i for i in range(500)}))

    def odd():
        # an emulator installs a handler even so, which execve() takes away
        if not EMULATED:
            signal.signal(signal.SIGUSR1, signal.SIG_IGN)
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR2,
                                                  signal.SIGTERM])
        signal.alarm(3600)
        os.umask(0o027)
        os.dup2(0, 7)
        os.set_inheritable(7, True)

    both("signals, timers, descriptors as they were", [world],
         preexec_fn=odd, close_fds=False)
    both("no stdin", [world], preexec_fn=lambda: os.close(0))
    status(m.isa + ": an exit status", 42, "", COUNT + [world, "exit", "42"])
    status(m.isa + ": status 255", 255, "", COUNT + [world, "exit", "255"])
    for s in (signal.SIGTERM, signal.SIGKILL, signal.SIGSEGV, signal.SIGABRT):
        status("%s: ended by %s" % (m.isa, s.name), 128 + s, "",
               COUNT + [world, "die", str(int(s))])


def is_there(name):
    return os.path.exists(name) and os.path.getsize(name)


def await_file(name):
    until(lambda: is_there(name), 0.02)
    return int(open(name).read())


def state(pid):
    with open("/proc/%d/stat" % pid) as f:
        return f.read().rsplit(")", 1)[1].split()[0]


def await_state(pid, want):
    return until(lambda: state(pid) in want, 0.02)


def start_waiting(world, **more):
    """(Popen, process id of the program) once it waits for signals; 0 if it
    was ended before."""
    ready = path("ready")
    if os.path.exists(ready):
        os.unlink(ready)
    p = subprocess.Popen(COUNT + [world, "wait", ready],
                         stdout=subprocess.PIPE, text=True, **more)
    until(lambda: is_there(ready) or p.poll() is not None, 0.02)
    return p, await_file(ready) if is_there(ready) else 0


def start_alarmed(world):
    """The same, with an alarm that is not due before it waits."""
    seconds = 1
    while seconds < PATIENCE:
        p, child = start_waiting(world, preexec_fn=lambda:
                                 signal.alarm(seconds))
        if child:
            break
        p.communicate()
        seconds *= 2
    return p


def try_signals(m, world):
    p, child = start_waiting(world)
    out = ""
    for s in (signal.SIGUSR1, signal.SIGHUP, signal.SIGUSR2):
        p.send_signal(s)
        out += p.stdout.readline()
    p.send_signal(signal.SIGTERM)
    out += p.communicate(timeout=PATIENCE)[0]
    tap.ok(out == "caught 10\ncaught 1\ncaught 12\ncaught 15\n" and
           p.returncode == 55, m.isa + ": signals to the launcher are passed "
           "on", [out, "status %d" % p.returncode])
    p, child = start_waiting(world)
    os.kill(child, signal.SIGUSR1)
    out = p.stdout.readline()
    os.kill(child, signal.SIGINT)
    out += p.communicate(timeout=PATIENCE)[0]
    tap.ok(out == "caught 10\ncaught 2\n" and p.returncode == 42,
           m.isa + ": signals to the program", [out])
    p = start_alarmed(world)
    out = p.communicate(timeout=PATIENCE)[0]
    tap.ok(out == "caught 14\n" and p.returncode == 54,
           m.isa + ": an alarm that was set before", [out])
    p, child = start_waiting(world)
    p.kill()
    p.wait()
    os.kill(child, signal.SIGTERM)
    out = p.communicate(timeout=PATIENCE)[0]
    tap.ok(out == "caught 15\n", m.isa + ": the program outlives the launcher",
           [out])


def read_until(fd, text):
    got = b""
    end = time.time() + PATIENCE
    while text not in got and time.time() < end:
        if select.select([fd], [], [], 0.2)[0]:
            try:
                got += os.read(fd, 4096)
            except OSError:
                break
    return got


def try_terminal(m, world):
    """^C, ^\\, ^Z and fg as a shell has them."""
    ready = path("ready")
    if os.path.exists(ready):
        os.unlink(ready)
    pid, fd = pty.fork()
    if not pid:
        os.execvpe("bash", ["bash", "--norc", "-i"],
                   dict(os.environ, PS1="prompt "))
    read_until(fd, b"prompt ")
    os.write(fd, " ".join(COUNT + [world, "wait", ready, "\n"]).encode())
    child = await_file(ready)
    os.write(fd, b"\x1c")
    quit = read_until(fd, b"caught 3")
    tap.ok(b"caught 3" in quit and quit.count(b"caught") == 1,
           m.isa + ": ^\\ reaches the program once", [quit])
    os.write(fd, b"\x1a")
    stopped = read_until(fd, b"prompt ")
    tap.ok(b"Stopped" in stopped and
           await_state(child, "t" if WATCHED else "T"),
           m.isa + ": ^Z stops it, and the shell sees it", [stopped])
    os.write(fd, b"fg\n")
    again = read_until(fd, b"caught 18")
    tap.ok(b"caught 18" in again and await_state(child, "S"),
           m.isa + ": fg continues it", [again])
    os.write(fd, b"\x03")
    end = read_until(fd, b"prompt ")
    os.write(fd, b"echo status=$?\n")
    end += read_until(fd, b"status=42")
    tap.ok(end.count(b"caught 2\r") == 1 and b"status=42" in end,
           m.isa + ": ^C reaches the program once", [end])
    os.write(fd, b"exit\n")
    os.close(fd)
    os.waitpid(pid, 0)


def try_stop():
    """The launcher stopped and continued alone; an orphan is not stuck."""
    p, child = start_waiting(path("world-" + HOST))
    p.send_signal(signal.SIGSTOP)
    await_state(p.pid, "T")
    p.send_signal(signal.SIGCONT)
    p.send_signal(signal.SIGTERM)
    out = p.communicate(timeout=PATIENCE)[0]
    tap.ok("caught 15" in out, "stopped and continued alone", [out])
    p, child = start_waiting(path("world-" + HOST))
    os.kill(child, signal.SIGSTOP)
    await_state(child, "t" if WATCHED else "T")
    os.kill(child, signal.SIGCONT)
    os.kill(child, signal.SIGTERM)
    out = p.communicate(timeout=PATIENCE)[0]
    tap.ok("caught 15" in out, "the program stopped and continued alone",
           [out])


def try_streams(world):
    data = os.urandom(1 << 20)
    p = subprocess.run(COUNT + ["cat"], input=data, stdout=subprocess.PIPE)
    tap.ok(p.stdout == data, "a megabyte through it")
    p = subprocess.run(COUNT + ["sh", "-c", "echo out; echo err >&2"],
                       stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    tap.ok((p.stdout, p.stderr) == (b"out\n", b"err\n"), "three streams")


def try_scripts():
    world = path("world-" + HOST)

    def both(name, file, *words):
        same(name, [file, *words], COUNT + [file, *words])

    both("a script", write("a", "#!%s\n" % world), "x", "y z")
    both("a script with an argument", write("b", "#! %s  -a b \t\n" % world),
         "x")
    both("a script of a script", write("c", "#!%s c" % path("b")), "x")
    both("a script of the shell", write("d", "#!/bin/sh\necho $0 \"$@\"\n"),
         "p q")
    for i in range(7):
        write("deep%d" % i, "#!%s\n" % (path("deep%d" % (i - 1)) if i else
                                        world))
    both("five interpreters", path("deep4"))
    tap.ok(run(COUNT + [path("deep6")])[0] == 126, "not seven")
    e = write("e", "echo \"$0 $*\"; exit 3\n")
    same("no #!: the shell", ["env", e, "x", "y"], COUNT + [e, "x", "y"])
    status("an interpreter that is not there", 127, "interpreter",
           COUNT + [write("f", "#!/nowhere/sh\n")])
    status("an empty interpreter", 126, "interpreter",
           COUNT + [write("g", "#!  \n")])


def try_path():
    os.makedirs(path("p1/dir"), exist_ok=True)
    os.makedirs(path("p2"), exist_ok=True)
    write("p1/thing", "#!/bin/sh\necho one\n", 0o644)
    write("p2/thing", "#!/bin/sh\necho two $0\n")
    write("here", "#!/bin/sh\necho here $0\n")

    def env(value):
        return dict(os.environ, PATH=value)

    status("not found", 127, "not found", COUNT + ["no-such-thing"])
    status("not found by path", 127, "No such file", COUNT + ["./none"])
    status("a folder", 126, "denied", COUNT + [where])
    status("not executable", 126, "denied", COUNT + [path("p1/thing")])
    status("only one that is not executable", 126, "denied",
           COUNT + ["thing"], env=env(path("p1")))
    status("an empty name", 127, "not found", COUNT + [""])
    got = run(COUNT + ["thing"], env=env(path("p1") + ":" + path("p2")))
    tap.ok(got[1] == "two %s\n" % path("p2/thing"), "the next in PATH", got)
    got = run(COUNT + ["here"], env=env("/nowhere::/bin"), cwd=where)
    tap.ok(got[1] == "here ./here\n", "an empty element is this folder", got)
    e = dict(os.environ)
    del e["PATH"]
    tap.ok(run(COUNT + ["true"], env=e)[0] == 0, "no PATH")


def try_nameless():
    """A program that can be executed, but of which nobody knows the full
    name: it is longer than names may be."""
    tree = path("tree")
    os.mkdir(tree)
    here = os.getcwd()
    os.chdir(tree)
    for _ in range(20):
        os.mkdir("x" * 250)
        os.chdir("x" * 250)
    shutil.copy(path("world-" + HOST), "p")
    same("a name that is too long", ["./p", "exit", "3"],
         ["sh", "-c", '"$@" 2>said', "sh", *COUNT, "./p", "exit", "3"])
    tap.ok("./p: not rewritten: File name too long" in open("said").read(),
           "and we say so", [open("said").read()])
    status("the same, strict", 125, "too long",
           COUNT + ["--strict", "./p", "exit", "3"])
    os.chdir(here)


def try_refused():
    world = path("world-" + HOST)
    suid = shutil.copy(world, path("suid"))
    os.chmod(suid, 0o4755)
    status("set-user-id", 125, "set-user-id", COUNT + [suid])
    os.chmod(suid, 0o2755)
    status("set-group-id", 125, "set-group-id", COUNT + [suid])
    status("an interpreter with set-group-id", 125, "set-group-id",
           COUNT + [write("h", "#!%s\n" % suid)])
    if os.geteuid() == 0:
        capable = shutil.copy(world, path("capable"))
        os.setxattr(capable, "security.capability", struct.pack(
            "<5I", 0x02000001, 1 << 13, 0, 0, 0)) # cap_net_raw+ep
        status("file capabilities", 125, "capabilities", COUNT + [capable])
    status("no program", 125, "missing argument: PROGRAM", COUNT)
    for option in ("--only", "--libs"):
        status("too many names for " + option, 125, "too many",
               [TALLY, "count", option, "x" * 20000, "true"])
    status("no such placement", 125, "or poison, not 'frob'",
           [TALLY, "count", "--placement=frob", "true"])
    status("an unknown option", 125, "--frob", COUNT + ["--frob", "true"])
    status("--libs of nothing", 125, "--libs", COUNT + ["--libs", "", "ls"])
    got = run([TALLY, "count", "--help"])
    tap.ok(got[0] == 0 and "usage: tally count" in got[1], "--help")


def try_unfit():
    """What cannot be rewritten runs all the same, but not with --strict."""
    with open(path("world-" + HOST), "rb") as f:
        good = bytearray(f.read())
    good[4] = 1 # ELFCLASS32
    with open(path("class32"), "wb") as f:
        f.write(good)
    os.chmod(path("class32"), 0o755)
    good[18] = 3 # i386
    with open(path("class32"), "wb") as f:
        f.write(good)
    status("a 32-bit file", 126, "32-bit", COUNT + [path("class32")])
    status("the same, strict", 125, "32-bit",
           COUNT + ["--strict", path("class32")])
    good[4] = 2
    good[18] = 243 # RISC-V
    with open(path("riscv"), "wb") as f:
        f.write(good)
    os.chmod(path("riscv"), 0o755)
    status("another machine", 126, "RISC-V", COUNT + [path("riscv")])
    m = machines()[1]
    if not m.missing() and not WATCHED:
        status("no emulator", 126, "no " + m.emulator[0],
               COUNT + [path("world-" + m.isa)],
               env=dict(os.environ, PATH="/nowhere"))


def try_alone(m, name, world, ex):
    """A program without an audit module sees its own world all the same."""
    same("%s: %s: the world" % (m.isa, name), m.plain([world]),
         COUNT + [world])
    # tally is loaded with it, too, and ld.so complains once more
    same("%s: %s: a user's LD_AUDIT" % (m.isa, name),
         m.plain([world], loader=["LD_AUDIT=/none", "XD_AUDI=1"]),
         COUNT + [world], messages=m.emulator and not EMULATED,
         env=dict(os.environ, LD_AUDIT="/none", XD_AUDI="1"))
    want = "exe '%s'\n" % ex
    got = run(COUNT + [ex, "exe"])
    # it has a word for ptrace(), of which a traced one is warned
    tap.ok(got[:2] == (0, want) and (WATCHED or not got[2]),
           "%s: %s: /proc/self/exe" % (m.isa, name), got)
    if name != "no-pie" and not EMULATED: # the others' libc is in them
        got = run(COUNT + ["--follow", "--strict", ex, "spawn", ex, "execve",
                           "/proc/self/exe", "exe"])
        tap.ok(got == (0, want + "ended 0\n", ""), "%s: %s: --follow" %
               (m.isa, name), got)


def try_kinds(m):
    """Static, position-independent or not."""
    for name, flags in (("static", ["-static"]), ("static-pie",
                        ["-static-pie"]), ("no-pie", ["-no-pie"])):
        p = m.build(path("%s-%s" % (name, m.isa)), "world.c", *flags)
        for words in ([p, "exit", "9"], [p, "die", "9"]):
            want = run(m.plain(words))[0]
            status("%s: %s %s" % (m.isa, name, words[1]),
                   want if want >= 0 else 128 - want, "", COUNT + words)
        e = run(COUNT + [p])[1]
        comm = "comm '%s'" % os.path.basename(p)[:15]
        tap.ok("TALLY_LAUNCH" not in e and "LD_AUDIT" not in e and
               (comm in e or m.emulator),
               "%s: %s: nothing of ours" % (m.isa, name), e.splitlines())
        try_alone(m, name, p, m.build(path("exec-%s-%s" % (name, m.isa)),
                                      "exec.c", *flags))


def try_lock(m):
    """A system call where a load-exclusive was given up, as in musl."""
    if m.isa != "aarch64":
        return
    with open(path("lock.c"), "w") as f:
        f.write("int main(void) { static int word = 1; register long r "
                "__asm__(\"x0\"); __asm__ volatile(\"1: ldaxr w2, [%1]; cbnz "
                "w2, 2f; stlxr w3, w2, [%1]; cbnz w3, 1b; 2: mov x8, #172; "
                "svc #0\" : \"=r\"(r) : \"r\"(&word) : \"x2\", \"x3\", "
                "\"x8\", \"memory\"); return r > 0 ? 6 : 1; }\n")
    subprocess.run([*m.cc, "-O2", "-o", path("lock"), path("lock.c")],
                   check=True)
    status(m.isa + ": a system call in an exclusive sequence", 6, "",
           COUNT + ["--strict", path("lock")])


def try_static_musl(m):
    """Static; of the other machine, dynamic too."""
    native = m.isa == HOST
    cc = [shutil.which("musl-gcc")] if native else compiler(m.isa, "musl-gcc")
    if not cc or not cc[0]:
        tap.skip(m.isa + ": musl", "no musl for it")
        return
    kinds, root = [("musl-static", ["-static"])], ""
    if not native:
        root = packages(m.isa, "musl-dev", "musl")
        libc = "%s/lib/%s-linux-musl/libc.so" % (root, m.isa)
        kinds.append(("musl-dynamic", [libc]))
    for name, flags in kinds:
        ex = path(name + "-" + m.isa)
        subprocess.run([*cc, "-D_GNU_SOURCE", "-O2", "-w", "-o", ex,
                        os.path.join(SOURCES, "exec.c"), *flags], check=True)
        env = dict(os.environ, QEMU_LD_PREFIX=root)
        for words in ([ex, "names"], [ex, "environment"]):
            want = run(m.emulator + words, env=env)
            got = run(COUNT + words, env=env)
            same = got[0] == want[0] and in_order(got[1].splitlines()) == \
                in_order(want[1].splitlines())
            tap.ok(same, "%s: %s: %s" % (m.isa, name, words[1]),
                   differences(want[1], got[1]))
        if name == "musl-dynamic":
            status("%s: %s, --follow" % (m.isa, name), 0, "stays as it is",
                   COUNT + ["--follow", ex, "names"], env=env)
            continue
        for way in ("execve", "spawn", "spawnp") if not EMULATED else ():
            got = run(COUNT + ["--follow", "--strict", ex, way, ex, "spawnp",
                               "/proc/self/exe", "exe"], env=env)
            tap.ok(got[0] == 0 and got[1].startswith("exe '%s'\n" % ex) and
                   not got[2], "%s: %s: %s" % (m.isa, name, way), got)


def try_musl():
    if not shutil.which("musl-gcc"):
        tap.skip("musl", "no musl-gcc")
        return
    with open(path("m.c"), "w") as f:
        f.write("#include <stdio.h>\nextern char **environ;\n"
                "int main(int c, char **v) { for (char **e = environ; *e; e++)"
                " puts(*e); puts(v[0]); return 5; }\n")
    subprocess.run(["musl-gcc", "-o", path("musl"), path("m.c")], check=True)
    a, b = run([path("musl")]), run(COUNT + [path("musl")])
    tap.ok(a[:2] == b[:2] and "musl" in b[2], "musl: runs, and we say what is "
           "not rewritten", [b[2]] + differences(a[1], b[1]))
    status("musl, strict", 125, "musl", COUNT + ["--strict", path("musl")])
    subprocess.run(["musl-gcc", "-shared", "-fPIC", "-Wl,-soname,libbeside.so",
                    "-o", path("libbeside.so"),
                    "-x", "c", "/dev/null"], check=True)
    subprocess.run(["musl-gcc", "-o", path("musl-near"), path("m.c"),
                    path("libbeside.so"), "-Wl,-rpath,$ORIGIN"], check=True)
    status("musl, with libraries beside it", 5, "not rewritten",
           COUNT + [path("musl-near")], cwd="/")
    status("musl, no libraries asked for", 5, "",
           COUNT + ["--strict", "--libs", "none", path("musl")])


def try_immovable():
    """a static program of which no code can be moved"""
    write("go.c", "int called(void); int main(void) { return called(); }\n")
    subprocess.run(["gcc", "-static", "-no-pie", "-DINFOS", "-o",
                    path("go"), path("go.c"), "tests/progs/pinned.S"],
                   check=True)
    status("nothing can be moved", 7, "not rewritten: no code can be moved",
           COUNT + [path("go")])
    status("nothing can be moved, strict", 125, "hence not run",
           COUNT + ["--strict", path("go")])


# a program's own variables of threads: none, without and with initial values,
# with such as are relocated; of small and of large alignment
TLS_OWN = {
    "none": "int own(void) { return 0; }",
    "zeros": "__thread long a, b; int own(void) { return a++ + b; }",
    "values": "__thread long a = 5, b = -5; int own(void) "
              "{ return a++ + b - (a != 6 ? a - 6 : 0); }",
    "aligned": "__thread char a __attribute__((aligned(32))) = 7; "
               "int own(void) { return a - 7 + (int)((long)&a & 31); }",
    "odd": "__thread char a = 7; __thread char b; "
           "int own(void) { return a - 7 + b; }",
    "pointer": "static int v; __thread int *a = &v; "
               "int own(void) { return a != &v; }",
}


def try_static_tls():
    """with an audit module ld.so decides before it sees the libraries"""
    write("tls.c", """__thread char v[N] __attribute__((aligned(A),
        tls_model("initial-exec")));
        int f(void) { return ++v[N - 1] + (int)((long)v & (A - 1)); }
        """)
    write("tls-main.c", """#include <pthread.h>
        int f(void); int own(void);
        static void *t(void *p) { *(int *)p = f() + own(); return p; }
        int main(void) { pthread_t h; int a = -1;
        pthread_create(&h, 0, t, &a); pthread_join(h, 0);
        return f() + own() + a + 7; }
        """)
    for size, align in ((400, 1), (40000, 16), (88, 64), (5000, 64)):
        subprocess.run(["gcc", "-shared", "-fPIC", "-DN=%d" % size, "-DA=%d"
                        % align, "-o", path("libtls.so"), path("tls.c")],
                       check=True)
        for own, text in TLS_OWN.items():
            write("tls-own.c", text)
            subprocess.run(["gcc", "-O1", "-o", path("tls"), path(
                "tls-main.c"), path("tls-own.c"), path("libtls.so")],
                check=True)
            # what relocations change cannot be moved
            says = "variables of threads" if align == 64 and \
                own == "pointer" and HOST == "aarch64" else ""
            status("%d bytes of static TLS by %d, own %s" % (size, align, own),
                   9, says, COUNT + [path("tls")])
    status("alignment of TLS that cannot be had, strict",
           125 if HOST == "aarch64" else 9, says,
           COUNT + ["--strict", path("tls")])


def try_tunables():
    """the user's own tunables are used, and seen by the program"""
    env = dict(os.environ, GLIBC_TUNABLES="glibc.malloc.perturb=7:"
               "glibc.rtld.optional_static_tls=600")
    p = subprocess.run(COUNT + ["/usr/bin/env"], env=env, text=True,
                       capture_output=True)
    lines = [v for v in p.stdout.splitlines() if "LIBC_TUNABLES" in v or
             "TALLY_L" in v or "TALLY_F" in v or "XD_" in v]
    tap.ok(lines == ["GLIBC_TUNABLES=" + env["GLIBC_TUNABLES"]],
           "a program sees the user's tunables alone", lines)


os.mkdir(path("sub"))
for m in machines()[:1] if WATCHED else machines():
    why = m.missing()
    if why:
        tap.skip(m.isa, why)
        continue
    world = m.build(path("world-" + m.isa), "world.c")
    try_world(m, world)
    try_signals(m, world)
    try_terminal(m, world)
    try_kinds(m)
    try_lock(m)
    try_static_musl(m)
if not EMULATED:
    try_stop()
    try_streams(path("world-" + HOST))
    try_scripts()
    try_path()
    try_nameless()
    try_refused()
    try_unfit()
    try_immovable()
    try_static_tls()
    try_tunables()
    try_musl()
top.cleanup()
tap.done()
