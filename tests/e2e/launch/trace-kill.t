#!/usr/bin/env python3
"""
trace-kill: what `tally count --trace-kill` says if it cannot trace, or if the
program traces itself; that it runs as without is in launch/watched.t, that
counts are exact in tests/sweep/killed.sh and unit/launch_watch.
"""
import ctypes
import os
import struct
import sys
import tempfile

sys.path.insert(0, "tests/lib")
from launch import *

tap = Tap()
WATCH = COUNT + ["--trace-kill"]
PTRACE = {"x86_64": 101, "aarch64": 117}[HOST] # the system call
TRACER = """#include <errno.h>
#include <stdio.h>
#include <sys/ptrace.h>
int main(void)
{
	int r = ptrace(PTRACE_TRACEME, 0, 0, 0) ? errno : 0;
	printf("%d\\n", r);
	return 0;
}
"""


def forbid_ptrace():
    """A filter: the call fails, and all others do not."""
    code = [(0x20, 0, 0, 0), (0x15, 0, 1, PTRACE),
            (0x06, 0, 0, 0x00050001), (0x06, 0, 0, 0x7fff0000)]
    filters = ctypes.create_string_buffer(
        b"".join(struct.pack("<HBBI", *c) for c in code))
    program = ctypes.create_string_buffer(
        struct.pack("<HxxxxxxQ", len(code), ctypes.addressof(filters)))
    libc = ctypes.CDLL(None)
    libc.prctl(38, 1, 0, 0, 0) # PR_SET_NO_NEW_PRIVS
    libc.prctl(22, 2, ctypes.c_void_p(ctypes.addressof(program)), 0, 0)


def said(name, got, status, text, out=""):
    tap.ok(got[0] == status and text in got[2] and out in got[1] and
           bool(text) == bool(got[2]), name, [str(got)])


with tempfile.TemporaryDirectory() as top:
    host, other = machines()
    source = top + "/tracer.c"
    with open(source, "w") as f:
        f.write(TRACER)
    subprocess.run([*host.cc, "-o", top + "/tracer", source], check=True)
    words = ["sh", "-c", "echo runs; exit 3"]
    # who looks for leaks traces itself
    os.environ["ASAN_OPTIONS"] = "detect_leaks=0"
    said("nothing to say", run(WATCH + words), 3, "", "runs")
    said("not permitted", run(WATCH + words, preexec_fn=forbid_ptrace), 3,
         "cannot be traced: Operation not permitted", "runs")
    got = run(WATCH + ["--strict"] + words, preexec_fn=forbid_ptrace)
    said("not permitted, strict", got, 125, "hence not run")
    tap.ok("runs" not in got[1], "it did not run", [got[1]])
    said("who traces is warned", run(WATCH + [top + "/tracer"]), 0,
         "it uses ptrace()", "1\n") # EPERM
    said("no note without the option", run(COUNT + [top + "/tracer"]), 0, "",
         "0\n")
    if other.missing():
        tap.skip("an emulator", other.missing())
    else:
        exe = top + "/hello"
        with open(top + "/hello.c", "w") as f:
            f.write('#include <stdio.h>\nint main(void)\n'
                    '{ puts("hello"); return 4; }\n')
        subprocess.run([*other.cc, "-o", exe, top + "/hello.c"], check=True)
        said("an emulator", run(WATCH + [exe]), 4, "an emulator runs it",
             "hello")
        said("an emulator, strict", run(WATCH + ["--strict", exe]), 125,
             "hence not run: an emulator runs it")
tap.done()
