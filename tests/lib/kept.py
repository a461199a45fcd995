"""
kept: what a compiler made of a program of tests/progs is kept in the build
folder, for other tests that want the same, and for the next time. It is made
anew if the words that call the compiler are others, a file of tests/progs has
changed (they include one another), or a package was installed. The latter may
happen while tests run, of which some then keep files in a new folder and others
in the old one, which has to stay for them.
"""
import functools
import hashlib
import os
import shutil
import subprocess
import tempfile
import time

PROGS = "tests/progs"
PACKAGES = "/var/lib/dpkg/status"
DAY = 24 * 60 * 60  # seconds; longer than any run of all tests


def kept(words, make):
    """make() is to call a compiler by these words, of which one is -o."""
    at = words.index("-o") + 1
    out, key = words[at], key_of(words[:at] + words[at + 1:], words[at])
    if not key:
        return make()
    file = os.path.join(folder(), key)
    if not restore(file, out):
        make()
        keep(out, file)


def restore(file, out):
    """
    Is it there? Another process copies it: if this one did, children that other
    threads make meanwhile could write to it for a moment, too, and what may be
    written to is not executed.
    """
    return os.path.exists(file) and subprocess.run(
        ["cp", "--preserve=mode", file, out],
        stderr=subprocess.DEVNULL).returncode == 0


def keep(out, file):
    """a copy that appears whole, whoever does the same"""
    with tempfile.TemporaryDirectory(dir=folder()) as where:
        os.rename(shutil.copy(out, where), file)


def key_of(words, out):
    """A name for these words; None if they name what is this test's alone."""
    place = os.path.relpath(os.path.abspath(out), tempfile.gettempdir())
    own = os.path.join(tempfile.gettempdir(), place.split("/")[0])
    for w in words[1:]:
        if own in w or os.path.isfile(w) and not w.startswith(PROGS + "/"):
            return None
    it = os.stat(shutil.which(words[0]))
    said = "\0".join([*words, str(it.st_size), str(it.st_mtime_ns)])
    return hashlib.sha256(said.encode()).hexdigest()[:32]


@functools.lru_cache(None)
def folder():
    """Where files are kept that are made of what is there now; no others."""
    top = os.path.join(os.environ.get("BUILD", "build"), "kept")
    here = os.path.join(top, state())
    os.makedirs(here, exist_ok=True)
    os.utime(here)
    for old in os.listdir(top):
        remove_unused(os.path.join(top, old))
    return os.path.abspath(here)


def remove_unused(old):
    """a folder that no test has asked for within a day"""
    try:
        if os.stat(old).st_mtime < time.time() - DAY:
            shutil.rmtree(old, ignore_errors=True)
    except FileNotFoundError: # another test was faster
        pass


def state():
    """of the sources, and of all packages"""
    h = hashlib.sha256()
    for at, folders, names in os.walk(PROGS):
        folders.sort()
        for name in sorted(names):
            path = os.path.join(at, name)
            with open(path, "rb") as f:
                h.update(path.encode() + b"\0" + f.read() + b"\0")
    if os.path.exists(PACKAGES):
        h.update(b"%d" % os.stat(PACKAGES).st_mtime_ns)
    return h.hexdigest()[:16]
