#!/usr/bin/env python3
"""
debug-files: names and lines of a stripped program come from a debug file that
is kept by its build-id, here or by a debuginfod server; and if there is none,
if it is another build's, broken, or the server is not to be had, addresses are
told all the same. (Debug links and .gnu_debugdata: profile/lines.t.)
"""
import http.server
import os
import re
import sys
import tempfile
import threading

sys.path.insert(0, "tests/lib")
from answers import *

WHERE = os.path.join(os.path.dirname(TALLY), "tools/where")


class Server(http.server.ThreadingHTTPServer):
    """Has files by the path that is asked for, as debuginfod does."""

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.files, self.asked = {}, []
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def url(self):
        return "http://127.0.0.1:%d" % self.server_port


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.server.asked.append(self.path)
        data = self.server.files.get(self.path)
        self.send_response(404 if data is None else 200)
        self.send_header("Content-Length", str(len(data or b"")))
        self.end_headers()
        self.wfile.write(data or b"")

    def log_message(self, *_):
        pass


def build_id(file):
    return re.search(r"Build ID: (\w+)", run("readelf", "-nW", file))[1]


def contents(path):
    with open(path, "rb") as f:
        return f.read()


def asking(t, url, cache):
    """How to ask tally with that server."""
    os.makedirs(t.path(cache), exist_ok=True)
    env = {**os.environ, "DEBUGINFOD_URLS": url,
           "DEBUGINFOD_CACHE_PATH": t.path(cache), "DEBUGINFOD_TIMEOUT": "5"}
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        env.pop(name, None)

    def ask(*words):
        return t.tally(*words, "profile", env=env)
    return ask


def told(out):
    """Procedures and source files of a report in JSON."""
    rows = json.loads(out)
    return {r["procedure"] for r in rows if "procedure" in r}, {
        os.path.basename(r["file"]) for r in rows if r.get("file")}


def check_served(t, server, ask):
    status, out, err = ask("report", "--json")
    t.ok(status == 0 and {"main", "nested", "choose"} <= told(out)[0] and
         not err, "names from a server", [out[:300], err])
    status, out, err = ask("report", "--by", "line", "--json")
    t.ok(status == 0 and "answers.c" in told(out)[1], "lines, too",
         [out[:300], err])
    status, out, err = ask("annotate", "nested")
    t.ok("sink += i * k;" in out, "and source", [out[:500], err])
    n = len(server.asked)
    ask("report")
    t.same(len(server.asked), n, "nobody is asked twice")


def check_without(t, name, ask):
    """Nothing is known but addresses, and that is told."""
    status, out, err = ask("report", "--json")
    names = told(out)[0] if out else set()
    t.ok(status == 0 and names == UNNAMED, name + ": addresses",
         [str(status), str(names), err])
    status, out, err = ask("report", "--by", "line")
    t.ok(status == 0 and "debug information" in err, name + ": no lines",
         [str(status), out[:200], err])
    status, out, err = ask("annotate", ENTRY)
    t.ok(status == 0 and len(out.splitlines()) > 8, name + ": instructions",
         [str(status), out[:200], err])


def check_here(t):
    """libc, and its debug file where Debian puts it."""
    libc = re.search(r"=> (\S*libc\.so\S*)", run("ldd", "/bin/true"))[1]
    i = build_id(libc)
    debug = "/usr/lib/debug/.build-id/%s/%s.debug" % (i[:2], i[2:])
    if not os.path.exists(debug):
        t.skip("a debug file by its build-id", "libc6-dbg is not installed")
        return
    names = {}
    for address, kind, name in re.findall(r"^(\w+) (\w) (\S+)$",
                                          run("nm", debug), re.M):
        names.setdefault(address, {})[name.split("@")[0]] = kind
    local = [a for a, n in names.items() if set(n.values()) == {"t"}][::10]
    p = subprocess.run([WHERE, "-s", libc], input="\n".join(local), text=True,
                       stdout=subprocess.PIPE, check=True)
    got = p.stdout.splitlines()[1::2]
    bad = ["%s: %s" % (a, g) for a, g in zip(local, got)
           if g not in names[a]]
    t.ok(not bad and len(local) > 50, "a debug file by its build-id: %d "
         "local names" % len(local), bad)


with tempfile.TemporaryDirectory() as where:
    t = Asker(where)
    for name in ("whole", "other"):
        t.build(name, "-Wl,--build-id", *(["-DNEWER"] if name == "other"
                                          else []))
        run("objcopy", "--only-keep-debug", t.path(name),
            t.path(name + ".debug"))
    run("strip", t.path("whole"), "-o", t.path("bare"))
    t.count("profile", "bare", "10", "10")
    ENTRY = "0x%x" % int(re.search(r"^(\w+) T nested$",
                                   run("nm", t.path("whole")), re.M)[1], 16)
    at = "/buildid/%s/debuginfo" % build_id(t.path("bare"))
    UNNAMED = told(asking(t, "", "c0")("report", "--json")[1])[0]
    t.ok("fn_" + ENTRY[2:] in UNNAMED, "nobody is asked", [str(UNNAMED)])
    server = Server()
    check_without(t, "it has none", asking(t, server.url(), "c1"))
    t.ok(at in server.asked, "it was asked", server.asked)
    server.files[at] = contents(t.path("whole.debug"))
    check_served(t, server, asking(t, server.url(), "c2"))
    server.files[at] = contents(t.path("other.debug"))
    check_without(t, "it has another build's", asking(t, server.url(), "c3"))
    server.files[at] = contents(t.path("whole.debug"))[:3000]
    check_without(t, "what it has is broken", asking(t, server.url(), "c4"))
    server.files[at] = b"no ELF file at all\n" * 100
    check_without(t, "it has something else", asking(t, server.url(), "c5"))
    server.shutdown()
    server.server_close()
    check_without(t, "it has gone", asking(t, server.url(), "c6"))
    check_here(t)
    t.done()
