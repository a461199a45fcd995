#!/usr/bin/env python3
"""house: the rules of doc/architecture, read from the includes.

A room uses only rooms above it in the list, and no two files of a room need
each other; only cmd/ prints, reads options or ends the process; nothing outside
isa/ tests which machine it is on; no line is longer than 80 columns. And
tests/README.md tells of every test.
"""
import fnmatch
import os
import re
import subprocess
import sys

ROOMS = ["base", "flow", "elf", "isa", "cfg", "rewrite", "abi", "client",
         "runtime", "hooks", "count", "events", "trace", "instrument",
         "launch", "store", "sample", "profile", "report", "export", "cmd"]
TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)),
                   "..", "..", "..")


def sources():
    for folder, _, names in os.walk(os.path.join(TOP, "src")):
        for name in sorted(names):
            # what a tool has written is not to be read
            if name.endswith((".c", ".h")) and not name.endswith(".skel.h"):
                path = os.path.join(folder, name)
                yield os.path.relpath(path, TOP), open(path).read()


def without_comments(text):
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    return re.sub(r'"(\\.|[^"\\])*"', '""', text)


def upward(path, text):
    room = path.split("/")[1]
    for used in re.findall(r'#include "(\w+)/', text):
        if ROOMS.index(used) > ROOMS.index(room):
            yield f"{path} uses {used}/"


def prints(path, text):
    if path.startswith("src/cmd/"):
        return
    text = without_comments(text)
    for word in re.findall(r"\b(printf|puts|perror|exit|_exit|getopt\w*)\s*\(",
                           text):
        yield f"{path} calls {word}()"
    if re.search(r"\b(stdout|stderr)\b", text):
        yield f"{path} knows stdout or stderr"


def machine(path, text):
    if path.startswith(("src/isa/", "src/elf/")):
        return
    for word in re.findall(r"\b(EM_X86_64|EM_AARCH64|isa_a64|isa_x64"
                           r"|__x86_64__|__aarch64__)\b",
                           without_comments(text)):
        yield f"{path} asks which machine it is on: {word}"


def missing_pages(path, text):
    """pages that it cites, but that nobody can read"""
    for page in re.findall(r"[\w/-]+\.md\b", text):
        if not os.path.exists(os.path.join(TOP, page)) and \
                not os.path.exists(os.path.join(TOP, "doc", page)):
            yield f"{path} cites {page}, which is not there"


def long_lines(path, text):
    for n, line in enumerate(text.split("\n"), 1):
        if len(line.expandtabs(8)) > 80:
            yield f"{path}:{n} is longer than 80 columns"


def undocumented(path, text):
    if not text.startswith("/*"):
        yield f"{path} does not open with a paragraph"


def tests():
    """every test, and every sweep, by its path in tests/"""
    top = os.path.join(TOP, "tests")
    for folder, _, names in os.walk(top):
        at = os.path.relpath(folder, top)
        suffix = {"unit": ".c", "e2e": ".t", "sweep": (".sh", ".py")}.get(
            at.split("/")[0], "/")
        yield from (at + "/" + n for n in names if n.endswith(suffix))


def table():
    """of tests/README.md: [(rooms, patterns of tests)]"""
    text = open(os.path.join(TOP, "tests", "README.md")).read()
    for row in re.findall(r"^\|(.*)\|(.*)\|.*\|$", text, re.M)[2:]:
        yield [re.findall(r"`(.*?)`", cell) for cell in row]


def untold():
    """tests that are in no row, rows of nothing, rooms without a row"""
    rows, there = list(table()), sorted(tests())
    told = [p + "*" if p.endswith("/") else p for _, ps in rows for p in ps]
    for test in there:
        if not any(fnmatch.fnmatch(test, p) for p in told):
            yield f"tests/README.md has no row for {test}"
    for p in told:
        if not fnmatch.filter(there, p):
            yield f"tests/README.md names {p}, which is not there"
    for room in set(ROOMS) - {r for rs, _ in rows for r in rs}:
        yield f"tests/README.md has no row for the room {room}"


# code that is one recursion, and one file would be too long for
MUTUAL = [["cfg/value/value", "cfg/value/memory", "cfg/value/written"]]


def needs():
    """{file: files whose symbols it uses}, from the objects in BUILD"""
    build = os.environ.get("BUILD", os.path.join(TOP, "build"))
    defined, used = {}, {}
    for path, _ in sources():
        name = path[len("src/"):-len(".c")]
        at = os.path.join(build, name + ".o")
        if not path.endswith(".c") or not os.path.exists(at):
            continue
        listed = subprocess.run(["nm", at], check=True, text=True,
                                stdout=subprocess.PIPE).stdout
        for words in map(str.split, listed.splitlines()):
            if words[0] == "U":
                used.setdefault(name, set()).add(words[1])
            elif words[1] in "TDRBC":
                defined[words[2]] = name
    return {name: {defined[s] for s in symbols if s in defined} - {name}
            for name, symbols in used.items()}


def reached(graph, name):
    seen, todo = set(), [name]
    while todo:
        for to in graph.get(todo.pop(), ()):
            if to not in seen:
                seen.add(to)
                todo.append(to)
    return seen


def circles():
    """sets of files that need each other"""
    graph = needs()
    if len(graph) < 100:
        yield "there are no objects to read: build first"
    ways = {name: reached(graph, name) for name in graph}
    found = {frozenset(b for b in ways[a] if a in ways.get(b, ()))
             for a in graph if a in ways[a]}
    for files in sorted(found, key=sorted):
        if files not in map(frozenset, MUTUAL):
            yield "need each other: " + " ".join(sorted(files))


CHECKS = [("rooms use only rooms above them", upward),
          ("only cmd/ prints, parses options or exits", prints),
          ("only isa/ and elf/ know machines by name", machine),
          ("lines are at most 80 columns wide", long_lines),
          ("pages that are cited are there", missing_pages),
          ("every file says what it is", undocumented)]



def say(n, what, wrong):
    print(("not ok" if wrong else "ok"), n, "-", what)
    for w in wrong:
        print("#", w)


print(f"1..{len(CHECKS) + 2}")
for n, (what, check) in enumerate(CHECKS, 1):
    say(n, what, [w for path, text in sources() for w in check(path, text)])
say(len(CHECKS) + 1, "tests/README.md tells of every test", list(untold()))
say(len(CHECKS) + 2, "no two files need each other", list(circles()))
