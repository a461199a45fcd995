"""
machine: a whole AArch64 machine, emulated, for what qemu-user cannot do: it
has no ptrace().

It boots a kernel of Debian's with a file system in memory: busybox, the C
library, and what the caller adds. A script runs there; what it leaves in /out
comes back.
"""
import base64
import io
import os
import re
import shutil
import stat
import subprocess
import tarfile

EMULATOR = "qemu-system-aarch64"
BEGIN, END = "-----BEGIN OUT-----", "-----END OUT-----"
INIT = """#!/bin/busybox sh
/bin/busybox --install -s /bin
export PATH=/bin HOME=/root
mount -t proc proc /proc
mount -t devtmpfs dev /dev
mount -t tmpfs tmp /tmp
cd /tmp
sh /script >/out/said 2>&1 </dev/null
echo
echo %s
tar -C /out -c . | gzip | base64
echo %s
poweroff -f
""" % (BEGIN, END)


def is_there():
    return shutil.which(EMULATOR) is not None


class Files:
    """An initial file system, in the format that kernels unpack (newc)."""

    def __init__(self):
        self.out, self.number = io.BytesIO(), 0

    def entry(self, name, mode, data=b""):
        self.number += 1
        raw = name.encode() + b"\0"
        head = [self.number, mode, 0, 0, 1, 0, len(data), 0, 0, 0, 0,
                len(raw), 0]
        self.out.write(b"070701" + b"".join(b"%08x" % x for x in head) + raw)
        self.pad()
        self.out.write(data)
        self.pad()

    def pad(self):
        self.out.write(bytes(-self.out.tell() % 4))

    def folder(self, name):
        self.entry(name, stat.S_IFDIR | 0o755)

    def text(self, name, text):
        self.entry(name, stat.S_IFREG | 0o755, text.encode())

    def file(self, name, path):
        with open(path, "rb") as f:
            self.entry(name, stat.S_IFREG | 0o755, f.read())

    def done(self):
        self.entry("TRAILER!!!", 0)
        return self.out.getvalue()


class Machine:
    def __init__(self, kernel, busybox, work):
        self.kernel, self.work = kernel, work
        self.files = Files()
        for name in ("bin", "lib", "proc", "dev", "tmp", "out", "root"):
            self.files.folder(name)
        self.files.file("bin/busybox", busybox)
        self.files.text("init", INIT)

    def run(self, script, seconds):
        """Runs a script of the shell; {name: bytes} of what is in /out."""
        self.files.text("script", script)
        initrd = os.path.join(self.work, "initrd")
        with open(initrd, "wb") as f:
            f.write(self.files.done())
        p = subprocess.run(
            [EMULATOR, "-M", "virt", "-cpu", "cortex-a72", "-m", "1024",
             "-smp", "2", "-nic", "none", "-nographic", "-no-reboot",
             "-kernel", self.kernel, "-initrd", initrd, "-append",
             "console=ttyAMA0 quiet panic=-1 rdinit=/init"],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, timeout=seconds)
        said = p.stdout.decode(errors="replace")
        found = re.search(BEGIN + r"\s(.*?)" + END, said, re.S)
        if not found:
            raise RuntimeError("the machine said:\n" + said[-2000:])
        out = {}
        with tarfile.open(fileobj=io.BytesIO(
                base64.b64decode(found.group(1)))) as tar:
            for m in tar.getmembers():
                if m.isfile():
                    out[os.path.normpath(m.name)] = tar.extractfile(m).read()
        return out
