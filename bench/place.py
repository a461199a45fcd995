"""place: programs and all their libraries, rewritten or not, in a folder, and
the instructions that qemu executes when one runs.

That is not time: it does not tell what a jump costs a branch predictor, nor
what an idle unit of the processor does for free.
"""
import glob
import os
import subprocess

from machine import HERE


def needed(path):
    out = subprocess.run(["readelf", "-dW", path], capture_output=True,
                         text=True).stdout
    return [line.split("[")[1].rstrip("]\n") for line in out.splitlines()
            if "(NEEDED)" in line]


def put(src, dst, rewriter):
    if rewriter:
        subprocess.run([*rewriter, src, "-o", dst], check=True,
                       stdout=subprocess.DEVNULL)
    else:
        subprocess.run(["cp", "-L", src, dst], check=True)
    return dst


class Place:
    def __init__(self, machine, folder, rewriter=None):
        """rewriter: words of a command that gets FILE -o OUT; None: copied"""
        self.machine, self.folder = machine, folder
        self.rewriter = rewriter
        os.makedirs(folder + "/lib", exist_ok=True)
        self.loader = put(machine.library(machine.loader),
                          folder + "/lib/" + machine.loader, None)

    def add(self, program):
        dst = self.folder + "/" + os.path.basename(program)
        put(program, dst, self.rewriter)
        todo = needed(program)
        while todo:
            name = todo.pop()
            to = self.folder + "/lib/" + name
            src = self.machine.library(name)
            if name == self.machine.loader or not src or os.path.exists(to):
                continue
            put(src, to, self.rewriter)
            todo += needed(src)
        return dst

    def run(self, program, work, plugin):
        """(status and output, instructions executed)"""
        count = self.folder + "/count"
        cmd = [self.machine.qemu, "-plugin", "%s,out=%s" % (plugin, count),
               self.loader, "--library-path", self.folder + "/lib", program,
               *work.args]
        p = subprocess.run(cmd, stdin=open(work.given or "/dev/null"),
                           stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                           env={**os.environ,
                                "TALLY_OUT": self.folder + "/profile"})
        return (p.returncode, p.stdout), int(open(count).read())


def plugin(name, tmp, *words):
    """one of the plugins for qemu that tests have; words: for the compiler"""
    out = tmp + "/" + name + ".so"
    subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-o", out,
                    HERE + "/../tests/lib/" + name + ".c", *words], check=True)
    return out


def counter(tmp):
    """qemu's plugin that counts instructions"""
    return plugin("qemu-insns", tmp)


def observer(tmp, tally):
    """qemu's plugin that counts those of each place"""
    return plugin("qemu-counts", tmp, "-D_GNU_SOURCE", "-I" + HERE + "/../src",
                  os.path.dirname(tally) + "/libtally.a")


def observed(machine, work, plugin, out):
    """instructions that the program and its libraries execute, those of the
    dynamic loader left out"""
    subprocess.run([machine.qemu, "-plugin", "%s,out=%s" % (plugin, out),
                    "-L", machine.root, work.program, *work.args],
                   stdin=open(work.given or "/dev/null"),
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    total = 0
    for name in glob.glob(out + ".*"):
        for line in open(name):
            kind, image, *_, times = line.split("\t")
            if kind == "ran" and not image.endswith(machine.loader):
                total += int(times)
    return total
