#!/usr/bin/env python3
"""
options: what is said of the options of a command, by its help, its manual page
and the scripts for three shells, is the same, and is how they are read. A wrong
option, value or command is refused with a word on which are near. The manual
pages are as the tables of options have them.
"""
import glob
import re
import shutil
import sys
import tempfile

sys.path.insert(0, "tests/lib")
from answers import *
from option_texts import *

RUNNERS = ("count", "events", "record", "trace")
HIDDEN = {"man", "pid"} # for `make man`; refused with a reason


def misuse(command):
    return 125 if command in RUNNERS else 2


def check_help(t, command):
    """The text as such; its options."""
    status, out, err = t.tally(command, "--help")
    t.same((status, err), (0, ""), command + ": --help")
    for words in ((command, "-h"), ("help", command), ("--help", command)):
        t.same(t.tally(*words), (0, out, ""), "the same: " + " ".join(words))
    wide = [l for l in out.splitlines() if len(l) > 80 or l != l.rstrip()]
    t.same(wide, [], command + ": at most 80 columns, no blanks behind")
    t.ok(out.startswith("usage: tally " + command), command + ": usage",
         out.splitlines())
    marks = re.findall(r".*[`<>].*", out)
    t.same([l for l in marks if "<(tally" not in l], [],
           command + ": no marks are left")
    return helped(out)


def check_texts(t, command, options, scripts):
    """All texts have the same options, values and choices."""
    want = spelled(options)
    choices = {c for o in options.values() for c in o.choices}
    listed = {c for o in options.values() if "|" not in (o.value or "")
              for c in o.choices}
    t.ok(set(want) >= {"-h", "--help"}, command + ": --help is listed")
    found, manual = in_manual(open("doc/tally-%s.1" % command).read())
    t.same(found, want, command + ": options of the manual page")
    t.same(manual, listed, command + ": choices of the manual page")
    for shell, read in (("bash", in_bash), ("fish", in_fish),
                        ("zsh", in_zsh)):
        found, offered = read(scripts[shell], command)
        t.same(found, want, "%s: options for %s" % (command, shell))
        t.ok(offered >= choices, "%s: choices for %s" % (command, shell),
             [str(choices - offered)])


def check_values(t, command, options):
    """Missing values, wrong choices, values of what takes none."""
    for name, o in options.items():
        for word in o.spellings:
            got, out, err = t.tally(command, word)
            if o.value:
                t.ok(got == misuse(command) and not out and
                     "%s needs a value: " % word in err,
                     "%s %s: what it needs" % (command, word), [got, err])
        if not o.value and name != "--help":
            got, out, err = t.tally(command, name + "=x")
            t.ok(got == misuse(command) and not out and
                 name + " takes no value" in err,
                 "%s %s: takes none" % (command, name), [got, err])
        # with others in capitals, it may be anything
        if o.choices and not re.search("[A-Z].*[|]|[|].*[A-Z]", o.value):
            got, out, err = t.tally(command, name + "=#")
            t.ok(got == misuse(command) and "did you mean" not in err and
                 all(c in err for c in o.choices),
                 "%s %s: all that it may be" % (command, name), [got, err])


def check_near(t, command, options):
    """A misspelt option leads to the right one."""
    for name in options:
        typed = name[:-1] + "x" + name[-1]
        got, out, err = t.tally(command, typed)
        t.ok(got == misuse(command) and not out and
             "unknown option '%s'" % typed in err and
             re.search("did you mean .*'%s'" % name, err),
             "%s %s: is near %s" % (command, typed, name), [got, err])
    t.ok("did you mean" not in t.tally(command, "--qqqqqqq")[2],
         command + ": nothing is near")


def check_sources(t, all_options):
    """Every table's options are in some help."""
    declared = set()
    for path in glob.glob("src/cmd/**/*.c", recursive=True):
        text = open(path).read()
        declared |= set(re.findall(
            r"^\t\{\"([\w-]+)\", (?:\.type|'\w', &type_)", text, re.M))
    listed = {name[2:] for name in all_options}
    t.ok(len(declared) > 30, "tables are found", [str(declared)])
    t.same(declared - HIDDEN, listed, "every option is in some help")
    t.same(HIDDEN & listed, set(), "but for two")


def check_commands(t, names):
    for name in names:
        typed = name[1] + name[0] + name[2:]
        got, out, err = t.tally(typed)
        t.ok(got == 2 and not out and re.match(
            "tally: there is no command '%s'; did you mean (.*)\\?\n" % typed,
            err) and "'%s'" % name in err, typed + " is near " + name, [err])
        t.refused(2, "there is no command '%se'; did you mean '%s'?" %
                  (name, name), "help", name + "e")
    for name in ("cached", "follow", "names"):
        t.refused(2, "there is no command '%s'" % name, "help", name)
    got = t.tally("xyzzy")
    t.ok(got[0] == 2 and "did you mean" not in got[2] and
         "tally --help" in got[2], "nothing is near", [str(got)])
    t.refused(2, "unknown option '--verison'; did you mean '--version'?",
              "--verison")
    status, out, err = t.tally("--version")
    t.ok(status == 0 and re.fullmatch(r"tally \S+\n", out) and not err,
         "--version", [out, err])


def check_messages(t):
    for why, *words in (
            ("--by takes procedure, image or line, not 'lime'; did you mean "
             "'line'?", "stats", "--by", "lime", "x"),
            ("--by takes procedure, image or line, not 'colour'\n", "stats",
             "--by", "colour", "x"),
            ("--format takes tsv, json, callgrind, lcov, gcov, folded, pprof, "
             "pixie, autofdo or bolt, not 'cov'; did you mean 'lcov' or "
             "'gcov'?", "export", "--format", "cov", "x"),
            ("it takes run, start, stop, status, flush or epoch, not 'statr'; "
             "did you mean 'start'?", "daemon", "statr"),
            ("missing argument: run, start, stop", "daemon"),
            ("it takes bash, zsh or fish, not 'ash'; did you mean 'bash' or "
             "'zsh'?", "completion", "ash"),
            ("--limit takes a number, not '-1'", "report", "--limit", "-1"),
            ("--limit takes a number, not ''", "report", "--limit="),
            ("--min takes a percentage, not '101'", "report", "--min=101"),
            ("--flush takes a number from 1 to", "daemon", "run", "--flush",
             "0"),
            ("--epoch takes all, last or a number, or two with '-' between "
             "them, not 'lst'; did you mean 'last'?", "report", "--epoch",
             "lst"),
            ("-o takes the name of a file, not ''", "merge", "-o", "", "x"),
            ("--output takes the name of a file, not ''", "graph",
             "--output=", "main", "x"),
            ("unknown option '-j'", "cfg", "-j"),
            ("unknown option '-json'; did you mean '--json'?", "cfg",
             "-json"),
            ("unknown option '--jsan'; did you mean '--json'?", "cfg",
             "--jsan=x"),
            ("unknown option '--%1b%0a'", "cfg", "--\033\n"),
            ("too many arguments: 'c'", "cfg", "a", "b", "c"),
            ("too many arguments: 'x'", "doctor", "x"),
            ("missing argument: PROCEDURE", "annotate"),
            ("missing argument: PROFILE or DB", "annotate", "main")):
        t.refused(2, why, *words)
    for command in RUNNERS:
        got = t.tally(command)
        t.ok(got[0] == 125 and "missing argument: PROGRAM" in got[2],
             command + " of nothing", [str(got)])


def check_spellings(t):
    """Where values and options may be."""
    profile = t.make("one")
    want = t.tally("report", "--by", "image", profile)
    t.ok(want[0] == 0 and want[1], "a report", [str(want)])
    for words in (["--by=image", profile], [profile, "--by", "image"],
                  ["--by", "line", "--by=image", "--", profile]):
        t.same(t.tally("report", *words), want, " ".join(words))
    for i, words in enumerate((["-o", "F"], ["-o=F"], ["-oF"],
                               ["--output", "F"], ["--output=F"])):
        words = [w.replace("F", "out%d" % i) for w in words]
        t.same((t.tally("merge", profile, *words)[0],
                os.path.exists(t.path("out%d" % i))), (0, True),
               "merge " + " ".join(words))
    for words in (["report", "--", "--json"], ["cfg", "--", "-h"]):
        status, out, err = t.tally(*words)
        t.ok(status == 3 and not out and err.startswith("tally: " + words[-1]),
             "no option: " + " ".join(words), [status, out, err])
    t.same(t.tally("report", "--wrong", "--help")[0], 0,
           "--help is heard behind what is wrong")
    for words in (["./nowhere", "--help"], ["--", "--help"],
                  ["--quiet", "--", "./nowhere", "--wrong"]):
        status, out, err = t.tally("count", *words)
        t.ok(status == 127 and not out, "words of a program: count " +
             " ".join(words), [status, out, err])


def check_pages(t):
    """make-man has nothing to write, and would if there were."""
    for page in sorted(glob.glob("doc/*.1")):
        text = open(page).read()
        name = os.path.basename(page)
        marks = re.findall(r'^\.\\" tally help --man (\w+)', text, re.M)
        t.ok({"synopsis", "options"} <= set(marks), name + ": has marks",
             marks)
        copy = shutil.copy(page, t.path(name))
        run("scripts/make-man", TALLY, copy)
        t.same(open(copy).read(), text, name + ": as `make man` writes it")
        spoilt = re.sub(r"(^\.SH OPTIONS\n.*\n)", r"\1.TP\n\\fB\\-\\-stale\n",
                        text, flags=re.M)
        with open(copy, "w") as f:
            f.write(spoilt)
        run("scripts/make-man", TALLY, copy)
        t.ok(spoilt != text and open(copy).read() == text,
             name + ": what is stale is replaced")


def check_version(t):
    """It is the newest that CHANGELOG.md tells of, and has a date."""
    newest = re.search(r"^## (\S+) \(\d{4}-\d\d-\d\d\)$",
                       open("CHANGELOG.md").read(), re.M)
    t.same(t.tally("--version"), (0, "tally %s\n" % newest[1], ""),
           "the version")


with tempfile.TemporaryDirectory() as where:
    t = Asker(where)
    scripts = {s: run(TALLY, "completion", s) for s in ("bash", "zsh",
                                                        "fish")}
    names = [name for name, _ in commands(run(TALLY, "help"))]
    everything = {"--version": None}
    t.ok(len(names) > 10, "there are commands", names)
    for command in names:
        options = check_help(t, command)
        everything.update(options)
        check_texts(t, command, options, scripts)
        check_values(t, command, options)
        check_near(t, command, options)
    check_sources(t, everything)
    check_commands(t, [*names, "help"])
    check_messages(t)
    check_spellings(t)
    check_pages(t)
    check_version(t)
    t.done()
