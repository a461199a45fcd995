#!/usr/bin/env python3
"""rewrite_sweep: every program of a root, rewritten, against the original.

    rewrite_sweep.py TALLY ROOT WORK [--emulator CMD | --native] [--trap]
                     [--placement PLACEMENT] [--insert OPTIONS] [NAME...]
    rewrite_sweep.py --sum <FIGURES

ROOT is a tree of programs and libraries of one machine (a system's own root
is "/"); WORK becomes the same tree with every ELF file rewritten and all else
linked. Each program in its bin directories then runs twice, in both trees,
under the same name, with --version or --help: output and status have to be
the same. --native: ROOT is this system's own, of which only folders of
programs and of libraries are taken; LD_LIBRARY_PATH leads to the libraries.
Prints what differs, what was refused, and sums. --sum prints only
the sums, of files that others have rewritten (`tally instrument --json`).
"""
import argparse
import json
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

BIN = ("usr/bin", "bin", "usr/sbin", "sbin", "usr/games", "usr/libexec")
# where a system has its libraries: folders whose name is a machine's
LIBRARIES = ("usr/lib/%s-linux-gnu" % os.uname().machine,)
# what asks for a terminal, acts on the system or never ends
ACTS = re.compile(
    r"^(mount|umount|kill.*|pkill|reboot|halt|poweroff|shutdown|init|telinit|"
    r"su|login|sulogin|agetty|getty|yes|cat|tee|top|less|more|vi.*|ed|"
    r"mesg|wall|write|script.*|rm|dpkg.*|apt.*|qemu-.*|ld-linux.*|ld\.so|"
    r"chroot|unshare|nsenter|setsid|nohup|stress.*)$")
TIMEOUT = 600   # seconds; a loaded machine is slow
NATIVE = 60     # the same without an emulator
# Pascal's programs tell where in their code an error happened, by number
PASCAL = re.compile(rb"\$[0-9A-F]{16}\b")
OUTPUT = 64 << 20  # bytes; who prints without end is ended there
TRIES = 8       # runs of an original that show whether it is steady


def limit_output():
    resource.setrlimit(resource.RLIMIT_FSIZE, (OUTPUT, OUTPUT))


def is_elf(path):
    try:
        with open(path, "rb") as f:
            head = f.read(20)
    except OSError:
        return False
    return head[:4] == b"\x7fELF" and head[16:18] in (b"\x02\0", b"\x03\0")


def is_loader(name):
    return name.startswith(("ld-linux", "ld-musl", "ld-2"))


class Sweep:
    def __init__(self, args):
        self.args = args
        self.rewritten = {}
        self.refused = []
        self.figures = []

    def rewrite(self, src, dst):
        cmd = [self.args.tally, "instrument", "--placement",
               self.args.placement, "--json", src, "-o", dst]
        if self.args.trap:
            cmd.insert(2, "--trap-unexpected")
        if self.args.insert is not None:
            cmd = [os.path.join(os.path.dirname(self.args.tally), "tools",
                                "insert-everywhere"),
                   *self.args.insert.split(), src, dst]
        run = subprocess.run(cmd, capture_output=True, text=True)
        if run.returncode == 0:
            return json.loads(run.stdout)
        shutil.copy2(src, dst)
        return f"{run.returncode}: {run.stderr.strip()}"

    def folders(self):
        """what os.walk() says of all that is taken"""
        if not self.args.native:
            yield from os.walk(self.args.root)
            return
        for folder in BIN + LIBRARIES:
            path = os.path.join(self.args.root, folder)
            if not os.path.islink(path):
                yield from os.walk(path)

    def mirror(self):
        """the tree with everything rewritten; one file of many names once"""
        jobs, first, more = [], {}, []
        for folder, dirs, names in self.folders():
            to = os.path.join(self.args.work,
                              os.path.relpath(folder, self.args.root))
            os.makedirs(to, exist_ok=True)
            for name in list(dirs):
                self.link(os.path.join(folder, name), os.path.join(to, name))
            for name in names:
                src, dst = os.path.join(folder, name), os.path.join(to, name)
                if os.path.lexists(dst):
                    continue
                if os.path.islink(src) or is_loader(name) or not is_elf(src):
                    self.copy(src, dst)
                else:
                    st = os.stat(src)
                    known = first.setdefault((st.st_dev, st.st_ino), dst)
                    if known == dst:
                        jobs.append((src, dst))
                    else:
                        more.append((known, dst))
        with ThreadPoolExecutor(self.args.jobs) as pool:
            for (src, _), r in zip(jobs, pool.map(
                    lambda j: self.rewrite(*j), jobs)):
                if isinstance(r, str):
                    self.refused.append((src, r))
                else:
                    self.figures.append(r)
        for known, dst in more:
            os.link(known, dst)

    @staticmethod
    def link(src, dst):
        if os.path.islink(src) and not os.path.lexists(dst):
            os.symlink(os.readlink(src), dst)

    @staticmethod
    def copy(src, dst):
        if os.path.islink(src):
            os.symlink(os.readlink(src), dst)
        elif os.path.isfile(src):
            try:
                os.link(src, dst)
            except OSError:
                shutil.copy2(src, dst)

    def run(self, root, path, arg):
        exe = os.path.join(root, path)
        cmd = ["/" + path if self.args.native else exe, arg]
        env = {"PATH": "/usr/bin:/bin", "LANG": "C", "HOME": "/nonexistent"}
        if self.args.native and root == self.args.work:
            env["LD_LIBRARY_PATH"] = ":".join(os.path.join(root, folder)
                                              for folder in LIBRARIES)
        if self.args.emulator:
            cmd = [*self.args.emulator.split(), "-0", "/" + path, "-L", root,
                   exe, arg]
        with tempfile.TemporaryDirectory() as cwd, \
                tempfile.TemporaryFile() as printed:
            try:
                status = subprocess.run(cmd, cwd=cwd, env=env,
                                        timeout=NATIVE if self.args.native
                                        else TIMEOUT,
                                        executable=None if self.args.emulator
                                        else exe,
                                        preexec_fn=limit_output,
                                        stdin=subprocess.DEVNULL,
                                        stdout=printed,
                                        stderr=subprocess.STDOUT).returncode
            except subprocess.TimeoutExpired:
                status = "timeout"
            printed.seek(0)
            out = printed.read()
        if self.args.native:
            out = out.replace(self.args.work.encode(), b"")
        else:
            out = out.replace(root.encode(), b"ROOT")
        out = out.replace(cwd.encode(), b"CWD")
        return status, PASCAL.sub(b"$", out)

    def programs(self):
        seen = set()
        for folder in BIN:
            full = os.path.join(self.args.work, folder)
            if not os.path.isdir(full):
                continue
            for name in sorted(os.listdir(full)):
                path = os.path.join(folder, name)
                real = os.path.realpath(os.path.join(full, name))
                if self.args.names and name not in self.args.names:
                    continue
                if real in seen or ACTS.match(name) or not is_elf(real):
                    continue
                seen.add(real)
                yield path

    def compare(self, path):
        """(path, answers, is unsteady, what differs or None)"""
        answers = unsteady = False
        for arg in ("--version", "--help"):
            want = self.run(self.args.root, path, arg)
            got = self.run(self.args.work, path, arg)
            answers |= want[0] == 0
            if want == got:
                continue
            # programs that print a time or an address, or start others that
            # print side by side, differ from themselves
            again = {want}
            for _ in range(TRIES):
                again.add(self.run(self.args.root, path, arg))
                if got in again:
                    break
            unsteady |= len(again) > 1
            if got in again or (len(again) > 1 and
                                got[0] in (s for s, _ in again)):
                continue
            return path, answers, unsteady, (arg, want, got)
        return path, answers, unsteady, None


def summary(figures):
    """files, share of text that moved, and what did not and why"""
    text = sum(f["text_bytes"] for f in figures)
    moved = sum(f["moved_bytes"] for f in figures)
    reasons = {}
    for f in figures:
        for r in f["in_place"]:
            n = reasons.setdefault(r["reason"], [0, 0, set()])
            n[0] += 1
            n[1] += int(r["end"], 16) - int(r["start"], 16)
            n[2].add(f["file"])
    print(f"files rewritten {len(figures)}; text {text} bytes, moved {moved} "
          f"({100 * moved / text if text else 0:.2f}%); in place:")
    for why, (n, size, files) in sorted(reasons.items(),
                                        key=lambda kv: -kv[1][1]):
        print(f"  {size:10} bytes in {n} regions of {len(files)} files: {why}")


def main():
    if sys.argv[1:] == ["--sum"]:
        summary([json.loads(line) for line in sys.stdin if line.strip()])
        return 0
    ap = argparse.ArgumentParser()
    ap.add_argument("tally")
    ap.add_argument("root")
    ap.add_argument("work")
    ap.add_argument("names", nargs="*")
    ap.add_argument("--emulator")
    ap.add_argument("--native", action="store_true")
    ap.add_argument("--trap", action="store_true")
    ap.add_argument("--placement", default="none", help="of counters")
    ap.add_argument("--insert", help="options of insert-everywhere")
    ap.add_argument("--jobs", type=int, default=2)
    args = ap.parse_intermixed_args()
    s = Sweep(args)
    s.mirror()
    for path, why in s.refused:
        print(f"refused: {path}: {why}")
    programs = list(s.programs())
    answers = bad = 0
    unsteady = []
    with ThreadPoolExecutor(args.jobs) as pool:
        for path, answered, shaky, why in pool.map(s.compare, programs):
            answers += answered
            if shaky:
                unsteady.append(path)
            if not why:
                continue
            bad += 1
            arg, want, got = why
            print(f"differs: {path} {arg}: status {want[0]} -> {got[0]}")
            if want[0] == got[0]:
                print("   want", want[1][:300])
            print("   got ", got[1][-300:])
            sys.stdout.flush()
    print(f"refused {len(s.refused)}")
    summary(s.figures)
    print(f"differ from themselves: {' '.join(unsteady) or 'none'}")
    print(f"programs {len(programs)}, of which {answers} end with status 0; "
          f"different {bad}")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
