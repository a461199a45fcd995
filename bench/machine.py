"""machine: a processor, and where its programs and libraries are.

What is at hand runs natively, and its root is /; the other one's programs are
those of a root of packages (tests/lib/packages.sh), and qemu executes them.
"""
import glob
import os
import platform
import subprocess

HERE = os.path.dirname(os.path.abspath(__file__))
LOADERS = {"aarch64": "ld-linux-aarch64.so.1",
           "x86_64": "ld-linux-x86-64.so.2"}


class Machine:
    def __init__(self, isa, root):
        self.isa, self.root = isa, root
        self.triplet = isa + "-linux-gnu"
        self.loader = LOADERS[isa]
        self.qemu = "qemu-" + isa
        self.native = isa == platform.machine()
        self.peers = self.built("plain") if self.native else ({}, {})

    def program(self, name, folder):
        """Its path, or None: from source if peers.sh built it."""
        path = os.path.join(self.root, folder.replace("TRIPLET", self.triplet),
                            name)
        found = sorted(glob.glob(path))
        return self.peers[0].get(name) or (found[-1] if found else None)

    def library(self, name):
        for folder in ("lib/", "usr/lib/"):
            for below in (self.triplet, ""):
                path = os.path.join(self.root, folder, below, name)
                if os.path.exists(path):
                    return path
        return None

    def environment(self, cache):
        """For `tally count`"""
        env = {**os.environ, "TALLY_CACHE": cache}
        return env if self.native else {**env, "QEMU_LD_PREFIX": self.root}

    def built(self, way):
        """{name: program}, {name: why there is none}, built by peers.sh"""
        env = {} if self.native else {"TRIPLET": self.triplet}
        out = subprocess.run([HERE + "/peers.sh", way], capture_output=True,
                             text=True, env={**os.environ, **env}).stdout
        rows = [line.split(" ", 2) for line in out.splitlines()]
        return ({name: rest for name, ok, rest in rows if ok == "ok"},
                {name: rest for name, ok, rest in rows if ok != "ok"})
