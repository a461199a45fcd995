"""cfg_sweep: `tally cfg` over many files, within limits, and what came out.

	cfg_sweep.py TALLY [--limit SECONDS] [--rows FILE] [--skip PATH]...
		DIRECTORY...

Finds every ELF file below the directories (by its magic, each inode and
build-id once), runs TALLY cfg on each with a limit on time and memory, and
prints a report: totals per ISA, files whose unwind tables are not covered,
indirect jumps that are not understood and why, the slowest and the largest
runs. Fails if any run crashed, hung, or ended with a status other than 0 or,
for what is not a program or library of our two machines, 3 with a message.

FILE keeps one line of figures per file; files that are already in it are not
run again, so that a sweep can be interrupted and continued.
"""
import argparse
import collections
import json
import os
import re
import resource
import signal
import subprocess
import sys
import threading

MEMORY = 4 << 30		# bytes of address space of one run
SKIP = {"/proc", "/sys", "/dev", "/run", "/tmp"}
ISA = {62: "x86-64", 183: "AArch64"}
PATIENCE = 10			# times the limit, by the clock
COVERED = 0.99			# share of unwind bytes that should be in blocks

# a language is known by what its compiler leaves in the file; first match
LANGUAGES = (
    ("Go", (b".gopclntab", b"Go build ID:")),
    ("Haskell", (b"stg_upd_frame", b"ghc-prim", b"libHSbase")),
    ("OCaml", (b"caml_startup__", b"caml_frametable", b"caml_callback")),
    ("Pascal", (b"FPC 3.",)),
    ("D", (b"_d_run_main", b"_d_eh_personality")),
    ("Ada", (b"__gnat_personality",)),
    ("Rust", (b"rustc version", b"/rustc/",
              b"RUST_BACKTRACE=")),
    ("Fortran", (b"_gfortran_",)),
    ("C++", (b"__gxx_personality_v0",)),
    ("C", (b"GCC: (", b"clang version", b"GLIBC_2.")),
)
MASTERED = ("C", "C++", "Rust", "Fortran")


class Row:
    """what is known of one file"""

    def __init__(self, path, head):
        self.path = path
        order = "little" if head[5] != 2 else "big"
        self.bits = head[4]
        self.type = int.from_bytes(head[16:18], order)
        self.machine = int.from_bytes(head[18:20], order)
        self.n = collections.Counter()
        self.status = self.error = None
        self.seconds = self.memory = 0
        self.language = ""

    def ours(self):
        """an executable or shared object of one of our machines"""
        return self.bits == 2 and self.machine in ISA and self.type in (2, 3)


def elf_files(roots):
    """every ELF file below the roots, each inode once"""
    seen = set()
    for root in roots:
        for folder, folders, names in os.walk(root):
            folders[:] = sorted(d for d in folders
                                if os.path.join(folder, d) not in SKIP)
            for name in sorted(names):
                path = os.path.join(folder, name)
                if path in SKIP:
                    continue
                try:
                    st = os.lstat(path)
                    if (st.st_mode & 0o170000) != 0o100000 or \
                       st.st_size < 64 or (st.st_dev, st.st_ino) in seen:
                        continue
                    seen.add((st.st_dev, st.st_ino))
                    with open(path, "rb") as f:
                        head = f.read(20)
                except OSError:
                    continue
                if head[:4] == b"\x7fELF":
                    yield Row(path, head)


def build_id(data):
    """the build-id note of a file's bytes, or None"""
    at = data.find(b"\x04\0\0\0\x14\0\0\0\x03\0\0\0GNU\0")
    return data[at + 16:at + 36] if at >= 0 else None


def guess_language(data):
    """the language a file was mostly written in, by traces of compilers"""
    for name, marks in LANGUAGES:
        if any(m in data for m in marks):
            return name
    return "?"


def limits():
    """in the child: a core dump helps nobody, memory has an end"""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


def run_limited(argv, limit, out):
    """
    runs argv; (status or -signal or None if over the limit, seconds, rusage).
    Processor time counts: a busy machine must not look like a slow program.
    """
    p = subprocess.Popen(argv, stdout=out, stderr=out, preexec_fn=limits)
    hung = threading.Event()

    def end():
        hung.set()
        p.kill()
    timer = threading.Timer(PATIENCE * limit, end)
    timer.start()
    _, status, usage = os.wait4(p.pid, 0)
    timer.cancel()
    p.returncode = 0
    code = os.waitstatus_to_exitcode(status)
    seconds = usage.ru_utime + usage.ru_stime
    if hung.is_set() or seconds > limit:
        code = None
    return code, seconds, usage


NUMBERS = (
    ("procedures", r"^  procedures +([\d,]+)"),
    ("blocks", r"^  blocks +([\d,]+)"),
    ("text", r"^  bytes of text +([\d,]+)"),
    ("covered", r"^  bytes of text.*\n  in blocks +([\d,]+)"),
    ("fde", r"^  bytes in unwind tables +([\d,]+)"),
    ("fde_covered", r"^  bytes in unwind tables.*\n  in blocks +([\d,]+)"),
    ("bounded", r"^  tables, bounded +([\d,]+)"),
    ("approximated", r"^  tables, approximated[a-z ]* +([\d,]+)"),
    ("unknown", r"^  not understood +([\d,]+)"),
    ("tail", r"^  tail calls +([\d,]+)"),
)
STATUSES = ("bounded", "approximated", "unknown")


def examine(tally, row, limit, scratch):
    """fills the row from one run of tally cfg"""
    with open(scratch, "w+b") as out:
        row.status, row.seconds, usage = run_limited(
            [tally, "cfg", row.path], limit, out)
        out.seek(0)
        text = out.read().decode(errors="replace")
    row.memory = usage.ru_maxrss * 1024
    row.error = text[:400] if row.status != 0 else None
    if row.status == 0:
        for name, pattern in NUMBERS:
            m = re.search(pattern, text, re.M)
            row.n[name] = int(m.group(1).replace(",", "")) if m else 0


def unknown_reasons(tally, row):
    """[(address, reason)] of a file's dispatches that are not understood"""
    p = subprocess.Popen([tally, "cfg", "--json", row.path],
                         stdout=subprocess.PIPE, text=True)
    lines = []
    for line in p.stdout:
        if lines or line.startswith(' "dispatches"'):
            lines.append(line)
        if lines and line.startswith(' "in_place"'):
            break
    p.kill()
    p.wait()
    body = "".join(lines[:-1]).strip().rstrip(",")
    return [(d["at"], d.get("reason", "?"))
            for d in json.loads("{" + body + "}")["dispatches"]
            if d["status"] == "unknown"]


def save_row(row, out):
    """one line of figures"""
    print(row.path, row.machine, row.type, row.language, row.status,
          "%.2f" % row.seconds, row.memory >> 20,
          *(row.n[k] for k, _ in NUMBERS), sep="\t", file=out, flush=True)


def load_rows(name):
    """lines of figures from an earlier run, by path"""
    if not name or not os.path.exists(name):
        return {}
    with open(name) as f:
        lines = [line.rstrip("\n").split("\t") for line in f]
    return {line[0]: line for line in lines}


def recall(row, line):
    """fills the row from a line of figures"""
    row.status = None if line[4] == "None" else int(line[4])
    row.seconds, row.memory = float(line[5]), int(line[6]) << 20
    row.error = "(as in an earlier run)"
    for (name, _), value in zip(NUMBERS, line[7:]):
        row.n[name] = int(value)


def failed(row):
    """why a run is not acceptable, or None"""
    if row.status is None:
        return "takes more than its time"
    if row.status < 0:
        return "dies of " + signal.Signals(-row.status).name
    if row.status == 3 and row.error and (
            not row.ours() or "a separate debug file" in row.error):
        return None
    return None if row.status == 0 else "ends with status %d" % row.status


def percent(n, of):
    return "%6.2f%%" % (100 * n / of) if of else "     -"


def print_totals(rows):
    for machine, isa in ISA.items():
        mine = [r for r in rows if r.machine == machine and r.status == 0]
        sum_ = collections.Counter()
        for r in mine:
            sum_ += r.n
        tables = sum(sum_[s] for s in STATUSES)
        print("\n%s: %d files, %d bytes of text, %s in blocks" %
              (isa, len(mine), sum_["text"],
               percent(sum_["covered"], sum_["text"])))
        print("  unwind tables: %d bytes, %s in blocks" %
              (sum_["fde"], percent(sum_["fde_covered"], sum_["fde"])))
        print("  dispatches: %d" % tables, *(
            "%s %d (%s)" % (s, sum_[s], percent(sum_[s], tables).strip())
            for s in STATUSES), "tail calls %d" % sum_["tail"])


def print_uncovered(rows):
    poor = [r for r in rows if r.status == 0 and r.n["fde"] and
            r.n["fde_covered"] < COVERED * r.n["fde"]]
    mastered = [r for r in poor if r.language in MASTERED]
    print("\nunder %d%% of unwind bytes in blocks: %d files, %d of them %s" %
          (100 * COVERED, len(poor), len(mastered), "/".join(MASTERED)))
    for r in sorted(poor, key=lambda r: -(r.n["fde"] - r.n["fde_covered"])):
        print("  %s %9d missing  %-8s %s" %
              (percent(r.n["fde_covered"], r.n["fde"]),
               r.n["fde"] - r.n["fde_covered"], r.language, r.path))


def print_extremes(rows):
    print("\nslowest:")
    for r in sorted(rows, key=lambda r: -r.seconds)[:5]:
        print("  %6.1f s  %5d MB  %10d bytes of text  %s" %
              (r.seconds, r.memory >> 20, r.n["text"], r.path))
    print("most memory:")
    for r in sorted(rows, key=lambda r: -r.memory)[:5]:
        print("  %5d MB  %6.1f s  %s" % (r.memory >> 20, r.seconds, r.path))


def print_unknown(tally, rows):
    for machine, isa in ISA.items():
        reasons = collections.Counter()
        files = collections.defaultdict(list)
        for r in rows:
            if r.machine != machine or not r.n["unknown"]:
                continue
            for at, why in unknown_reasons(tally, r):
                reasons[why] += 1
                files[why].append((at, r.path, r.language))
        print("\n%s: dispatches that are not understood, by reason" % isa)
        for why, n in reasons.most_common():
            print("  %6d  %s" % (n, why))
            by_file = collections.Counter(
                "%s (%s)" % f[1:] for f in files[why])
            for name, k in by_file.most_common(8):
                ats = [f[0] for f in files[why] if name.startswith(f[1])]
                print("    %6d  %s: %s" % (k, name, " ".join(ats[:4])))


def main():
    a = argparse.ArgumentParser()
    a.add_argument("tally")
    a.add_argument("root", nargs="+")
    a.add_argument("--limit", type=float, default=60)
    a.add_argument("--rows")
    a.add_argument("--skip", action="append", default=[])
    a = a.parse_args()
    SKIP.update(a.skip)
    known = load_rows(a.rows)
    scratch = a.rows + ".out" if a.rows else "/tmp/cfg-sweep.%d" % os.getpid()
    out = open(a.rows, "a") if a.rows else None
    rows, ids = [], set()
    for row in elf_files(a.root):
        with open(row.path, "rb") as f:
            data = f.read()
        key = build_id(data)
        if key and (row.type, key) in ids:
            continue
        ids.add((row.type, key))
        row.language = guess_language(data)
        if row.path in known:
            recall(row, known[row.path])
        else:
            examine(a.tally, row, a.limit, scratch)
        rows.append(row)
        why = failed(row)
        if why:
            print("not ok - %s: %s" % (row.path, why), flush=True)
            print("# " + row.error.strip().replace("\n", "\n# "), flush=True)
        if out and row.path not in known:
            save_row(row, out)
    if os.path.exists(scratch):
        os.remove(scratch)
    print_totals(rows)
    print_uncovered(rows)
    print_extremes(rows)
    print_unknown(a.tally, rows)
    bad = [r for r in rows if failed(r)]
    print("\n%d files: %d passed, %d failed" %
          (len(rows), len(rows) - len(bad), len(bad)))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
