#!/usr/bin/env python3
"""
completion: what bash, zsh and fish complete with the scripts of `tally
completion`, asked as the shells ask: command by command and option by option
it is what the help says. Values, profiles, names of procedures and images, and
programs are completed, too; of bash all that with a real TAB on a terminal.
"""
import os
import pty
import re
import select
import shutil
import sys
import tempfile

sys.path.insert(0, "tests/lib")
from answers import *
from option_texts import commands, helped, spelled

# bash-completion loads scripts in a function, so does this
DRIVE = r"""
load() { . "$1"; }
load "$1"; shift
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
_tally "$1" "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
((${#COMPREPLY[@]})) && printf '%s\n' "${COMPREPLY[@]}"
exit 0
"""


def completed(t, *words):
    """What the last word may become, in bash."""
    p = subprocess.run(["bash", "-c", DRIVE, "bash", t.path("script.bash"),
                        TALLY, *words], cwd=t.where, text=True, check=True,
                       stdout=subprocess.PIPE)
    return p.stdout.splitlines()


def check_command(t, command):
    options = helped(run(TALLY, "help", command))
    t.same(sorted(completed(t, command, "-")), sorted(spelled(options)),
           command + ": options as the help says")
    for name, o in options.items():
        for way in ([name], [name, "="]):
            if o.choices:
                got = completed(t, command, *way, "")
                t.ok(set(o.choices) <= set(got), "%s: values of %s" %
                     (command, " ".join(way)), [str(got), str(o.choices)])


def check_words(t):
    t.same(sorted(completed(t, "report", "")),
           ["folder", "one.tally", "tally"], "profiles and folders")
    t.same(sorted(completed(t, "merge", "-o", "on")), ["one", "one.tally"],
           "any file as the output")
    t.same(sorted(completed(t, "cfg", "one")), ["one", "one.tally"], "a file")
    t.same(completed(t, "help", "st"), ["stats"], "what there is help for")
    t.same(completed(t, "completion", "z"), ["zsh"], "shells")
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
    t.same(completed(t, "annotate", "int t"), [r"int\ twice\<int\>"],
           "what the shell would take for its own is quoted")
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


def read_until(fd, end, seconds=PATIENCE):
    """What comes, up to the end, if that comes."""
    out = b""
    while end not in out and select.select([fd], [], [], seconds)[0]:
        try:
            out += os.read(fd, 1 << 16)
        except OSError:
            break
    return out.decode(errors="replace")


class Terminal:
    """A shell on a terminal of its own."""

    def __init__(self, t, shell, *words, **env):
        self.pid, self.fd = pty.fork()
        if not self.pid:
            os.chdir(t.where)
            os.environ.update(TERM="dumb", HISTFILE="/dev/null", **env)
            os.execvp(shell, [shell, *words])

    def setup(self, text):
        self.type(text + '; echo REA""DY\n')
        read_until(self.fd, b"READY\r\n")

    def type(self, text):
        os.write(self.fd, text.encode())

    def close(self):
        self.type("\x15exit\n")
        read_until(self.fd, b"nothing", 1.5)
        os.close(self.fd)
        os.waitpid(self.pid, 0)


def check_terminal(t):
    shell = Terminal(t, "bash", "--norc", "--noprofile", PS1="$ ")
    shell.setup('bind "set bell-style none"; . ./script.bash')
    for typed, want in (
            ("tally anno\t", "tally annotate "),
            ("tally report --by=blo\t", "tally report --by=block "),
            ("tally annotate space::i\t", "tally annotate space::in "),
            ("tally count --placement vertex\t",
             "tally count --placement vertex-edges ")):
        shell.type("\x15" + typed)
        got = read_until(shell.fd, want.encode())
        t.ok(got.endswith(want), "typed: " + repr(typed), [repr(got)])
    shell.close()


# a line, and what its last word may become: in any order, or if the list ends
# with "..." among others
LINES = (
    ("tally st", ["stats"]),
    ("tally --v", ["--version"]),
    ("tally report --by ", ["procedure", "image", "line", "process",
                            "instruction", "block", "edge", "call-site",
                            "event", "epoch"]),
    ("tally report --by=bl", ["block"]),
    ("tally count --placement v", ["vertices", "vertex-edges"]),
    ("tally count --libs ", ["all", "none"]),
    ("tally count --weights ", ["heuristic", "one.tally", "..."]),
    ("tally daemon st", ["start", "status", "stop"]),
    ("tally completion z", ["zsh"]),
    ("tally help st", ["stats"]),
    ("tally merge -o one", ["one", "one.tally"]),
    ("tally merge --output=one.", ["one.tally"]),
    ("tally record -o fol", ["folder/"]),
    ("tally report ", ["one.tally", "..."]),
    ("tally cfg one", ["one", "one.tally"]),
    ("tally annotate often", ["often", "often_too"]),
    ("tally annotate often one.", ["one.tally"]),
    ("tally graph --json often", ["often", "often_too"]),
    ("tally report --image o", ["one"]),
    ("tally report --procedure ma", ["main"]),
    ("tally report -- --js", []),
    ("tally count tally-tes", ["tally-test-program"]),
    ("tally count --libs none tally-tes", ["tally-test-program"]),
    ("tally count -- tally-tes", ["tally-test-program"]),
    ("tally count tally-test-program --js", []),
    ("tally count tally-test-program --out", []),
    ("tally count tally-test-program one.", ["one.tally"]),
    ("tally count --quiet tally st", ["stats"]),
    ("tally record -- tally report --by=bl", ["block"]),
)


def check_lines(t, shell, ask):
    for line, want in LINES:
        got = {w.split("=")[-1] for w in ask(line)}
        if want[-1:] == ["..."]:
            t.ok(got >= set(want[:-1]), "%s: %s" % (shell, line), [str(got)])
        else:
            t.same(sorted(w.rstrip("/") for w in got),
                   sorted(w.rstrip("/") for w in want),
                   "%s: %s" % (shell, line))
    for command, _ in commands(run(TALLY, "help")):
        options = helped(run(TALLY, "help", command))
        got = set(ask("tally %s --" % command))
        t.same(sorted(got), sorted(options), "%s: options of %s" %
               (shell, command))
    t.same(set(ask("tally ")) >= {c for c, _ in commands(run(TALLY, "help"))},
           True, shell + ": commands")


def ask_fish(t, line):
    p = subprocess.run(["fish", "--no-config", "-c", "source script.fish; "
                        "complete -C $argv[1]", line], cwd=t.where, text=True,
                       check=True, stdout=subprocess.PIPE,
                       stderr=subprocess.PIPE)
    if p.stderr:
        t.same(p.stderr, "", "fish: not a word: " + line)
    # other matches than of beginnings come if there is none of these
    word = line.split(" ")[-1]
    return [w for w in (l.split("\t")[0] for l in p.stdout.splitlines())
            if w.startswith(word)]


# compadd is what all completion of zsh ends in: it says what it is given
ZSH = r"""
PS1= PS2=
[[ -d functions ]] && fpath=($PWD/functions $fpath)
autoload -Uz compinit; compinit -u -D
compadd() {
	local -a hits
	local hit
	if [[ ${@[1,(i)(-|--)]} == *-(O|A|D)\ * ]]; then
		builtin compadd "$@"
		return
	fi
	builtin compadd -A hits "$@"
	for hit in $hits; do
		print -r -- "<<$hit>>"
	done
	(( $#hits ))
}
finish() {
	print -r -- "FINI""SHED"
	compstate[insert]= compstate[list]=
	comppostfuncs=(finish)
}
comppostfuncs=(finish)
[[ -d functions ]] || . ./script.zsh
"""


def check_zsh(t):
    """The script as a file of $fpath; and one line of it as it is sourced."""
    with open(t.path("setup.zsh"), "w") as f:
        f.write(ZSH)
    os.mkdir(t.path("functions"))
    shutil.copy(t.path("script.zsh"), t.path("functions/_tally"))
    ask_zsh(t, lambda ask: check_lines(t, "zsh", ask))
    shutil.rmtree(t.path("functions"))
    ask_zsh(t, lambda ask: t.same(ask("tally report --by=bl"), ["block"],
                                  "zsh: sourced"))


def ask_zsh(t, what):
    shell = Terminal(t, "zsh", "-f", "-i")
    shell.setup(". ./setup.zsh")

    def ask(line):
        shell.type("\x15" + line + "\t")
        out = read_until(shell.fd, b"FINISHED")
        return re.findall("<<(.*?)>>", out)

    what(ask)
    shell.close()


def check_shells(t):
    for shell, check in (("fish", lambda: check_lines(
            t, "fish", lambda line: ask_fish(t, line))),
                         ("zsh", lambda: check_zsh(t))):
        if shutil.which(shell):
            check()
        else:
            t.skip(shell + " completes the same", shell + " is not there")


PROGRAM = """
namespace space { [[gnu::noinline]] int in(int x) { return x + 1; } }
extern "C" [[gnu::noinline]] int often(int x) { return space::in(x) * 2; }
extern "C" [[gnu::noinline]] int often_too(int x) { return often(x) + 1; }
template <class T> [[gnu::noinline]] T twice(T x) { return x + x; }
int main() { return often_too(twice(0)) != 3; }
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
    os.environ["PATH"] = ":".join([os.path.dirname(TALLY), os.environ["PATH"],
                                   t.path("folder")])
    for shell in ("bash", "zsh", "fish"):
        with open(t.path("script." + shell), "w") as f:
            f.write(run(TALLY, "completion", shell))
    names = [name for name, _ in commands(run(TALLY, "help"))]
    t.same(sorted(completed(t, "")), sorted([*names, "help", "-h", "--help",
                                             "--version"]), "commands")
    for command in names:
        check_command(t, command)
    check_words(t)
    check_database(t)
    check_program(t)
    check_terminal(t)
    check_shells(t)
    t.done()
