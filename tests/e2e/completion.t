#!/usr/bin/env python3
"""
completion: what bash completes is what `tally help` and the manual pages say,
command by command and option by option: the three cannot drift apart. Values,
profiles, names of procedures and images, and programs are completed, too; and
all that with a real TAB on a terminal.
"""
import os
import pty
import re
import select
import sys
import tempfile

sys.path.insert(0, "tests/lib")
from answers import *

COMPLETION = os.path.abspath("completion/tally")
DRIVE = r"""
. "$1"; shift
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
_tally "$1" "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
((${#COMPREPLY[@]})) && printf '%s\n' "${COMPREPLY[@]}"
exit 0
"""


def completed(t, *words):
    """What the last word may become."""
    p = subprocess.run(["bash", "-c", DRIVE, "bash", COMPLETION, TALLY,
                        *words], cwd=t.where, text=True, check=True,
                       stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    return p.stdout.splitlines()


def helped(text):
    """{option: its values} of a help text; None: it takes none."""
    out = {}
    for line in text.splitlines():
        m = re.match(r"  (-[-\w]+)( \S+)?(?=  |$)", line)
        if m:
            values = out.setdefault(m[1], m[2] and [])
            if m[2]:
                values += m[2][1:].split("|")
    return out


def in_manual(command):
    """Options that a page has a paragraph about."""
    text = open("doc/tally-%s.1" % command).read().replace(r"\-", "-")
    heads = re.findall(r"^\.TP\n\.B[IR]* (.*)", text, re.M)
    return {o for h in heads for o in re.findall(r"(?:^|[ \"])(-[-\w]+)", h)
            if re.match(r"(--\w|-\w$)", o)}


def check_command(t, command):
    options = helped(run(TALLY, "help", command))
    got = completed(t, command, "-")
    t.same(sorted(got), sorted([*options, "--help"]),
           command + ": options as the help says")
    t.same(sorted(in_manual(command)), sorted([*options, "-h", "--help"]),
           command + ": and the manual page")
    for option, values in options.items():
        words = [v for v in values or [] if re.match("[a-z]", v)]
        for way in ([option], [option, "="]):
            if words and option.startswith("--"):
                got = completed(t, command, *way, "")
                t.ok(set(words) <= set(got), "%s: values of %s" %
                     (command, " ".join(way)), [str(got), str(words)])


def check_words(t):
    t.same(sorted(completed(t, "report", "")),
           ["folder", "one.tally", "tally"], "profiles and folders")
    t.same(sorted(completed(t, "merge", "-o", "on")), ["one", "one.tally"],
           "any file as the output")
    t.same(sorted(completed(t, "cfg", "one")), ["one", "one.tally"], "a file")
    t.same(completed(t, "help", "st"), ["stats"], "what there is help for")
    t.same(sorted(completed(t, "daemon", "st")), ["start", "status", "stop"],
           "what a daemon is told")
    for command in ("annotate", "graph"):
        t.same(completed(t, command, "often"), ["often", "often_too"],
               command + ": procedures")
        t.same(completed(t, command, "--json", "often_", "one.tally")[:1],
               ["one.tally"], command + ": then profiles")
    t.same(completed(t, "report", "--image", "o"), ["one"], "images")
    t.same(completed(t, "report", "--procedure", "ma"), ["main"],
           "--procedure")
    t.same(completed(t, "annotate", "space", "::", "in"), ["in"],
           "what is behind a colon alone")


def check_database(t):
    """Names in a database that the line has; the cursor is before it."""
    text = "epoch 1 2 work\nevent cycles 1 0\nimage 0 /gone/prog\n" \
           "hit 4 3\nprocess 7 worker 3\n"
    subprocess.run([os.path.join(os.path.dirname(TALLY),
                                 "tools/make-database"), t.path("db")],
                   input=text, text=True, check=True)
    for option, want in (("--image", "prog"), ("--event", "cycles"),
                         ("--process", "worker")):
        t.same(completed(t, "report", "db", option, ""), [want],
               "of a database: " + option)
    (host,) = [n for n in os.listdir(t.path("db"))
               if n.endswith(".tallydb")]
    t.same(completed(t, "report", "db", "--host", ""),
           [host[:-len(".tallydb")]], "of a database: --host")


def check_program(t):
    for words in (["--", "tally-tes"], ["tally-tes"],
                  ["--follow", "--libs", "none", "tally-tes"]):
        t.same(completed(t, "count", *words), ["tally-test-program"],
               "a program of PATH: count " + " ".join(words))
    t.same(sorted(completed(t, "count", "./on")), ["./one", "./one.tally"],
           "one with a folder")
    t.same(completed(t, "count", "tally-test-program", "--o"), [],
           "its options are its own")
    t.same(completed(t, "count", "tally-test-program", "fol"), ["folder"],
           "its files")


def read_all(fd):
    """What comes until nothing does for a while."""
    out = b""
    while select.select([fd], [], [], 1.5)[0]:
        try:
            out += os.read(fd, 1 << 16)
        except OSError:
            break
    return out.decode(errors="replace")


def check_terminal(t):
    pid, fd = pty.fork()
    if not pid:
        os.chdir(t.where)
        os.environ.update(TERM="dumb", PS1="$ ", HISTFILE="/dev/null")
        os.execvp("bash", ["bash", "--norc", "--noprofile"])
    setup = 'bind "set bell-style none"; PATH=%s:$PATH; . %s\n' % (
        os.path.dirname(TALLY), COMPLETION)
    os.write(fd, setup.encode())
    read_all(fd)
    for typed, want in (
            ("tally anno\t", "tally annotate "),
            ("tally report --by=blo\t", "tally report --by=block "),
            ("tally annotate space::i\t", "tally annotate space::in "),
            ("tally count --placement vertex\t",
             "tally count --placement vertex-edges ")):
        os.write(fd, b"\x15" + typed.encode())
        got = read_all(fd)
        t.ok(got.endswith(want), "typed: " + repr(typed), [repr(got)])
    os.write(fd, b"\x15exit\n")
    read_all(fd)
    os.close(fd)
    os.waitpid(pid, 0)


PROGRAM = """
namespace space { [[gnu::noinline]] int in(int x) { return x + 1; } }
extern "C" [[gnu::noinline]] int often(int x) { return space::in(x) * 2; }
extern "C" [[gnu::noinline]] int often_too(int x) { return often(x) + 1; }
int main() { return often_too(0) != 3; }
"""

with tempfile.TemporaryDirectory() as where:
    t = Asker(where)
    with open(t.path("one.cc"), "w") as f:
        f.write(PROGRAM)
    run(*compiler(HOST, "g++"), "-O1", "-o", t.path("one"), t.path("one.cc"))
    os.unlink(t.path("one.cc"))
    t.count("one.tally", "one")
    os.mkdir(t.path("folder"))
    with open(t.path("folder/tally-test-program"), "w") as f:
        os.fchmod(f.fileno(), 0o755)
    os.environ["PATH"] += ":" + t.path("folder")
    commands = re.findall(r"^  (\w+)  ", run(TALLY, "help"), re.M)
    t.same(sorted(completed(t, "")), sorted([*commands, "help", "--help",
                                             "--version"]), "commands")
    for command in commands:
        check_command(t, command)
    check_words(t)
    check_database(t)
    check_program(t)
    check_terminal(t)
    t.done()
