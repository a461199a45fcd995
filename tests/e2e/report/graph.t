#!/usr/bin/env python3
"""
graph: `tally graph` draws every block and edge that `tally report` lists, with
the same counts; loops are what they are in the source; what ran, never ran, is
not known and was not measured look different; every format is one that others
read.
"""
import html.parser
import os
import re
import sys
import tempfile
import xml.dom.minidom

sys.path.insert(0, "tests/lib")
from answers import *

LINKS = {"taken", "fall", "jump", "table", "over-call", "after-call",
         "unwind", "entry"}


def number(text):
    return int(text.replace(",", ""))


def drawn(dot):
    """({address: count}, [(from, to, count)]), by the labels of a drawing."""
    names, blocks, edges = {}, {}, []
    for name, head, addr in re.findall(
            r"^ *(n\d+) \[label=<(?:<b>)?([\w, ]+?)(?:</b>)? +<font "
            r'color="#505050">(0x\w+)', dot, re.M):
        names[name] = addr
        blocks[addr] = {"never ran": 0, "unknown": None}.get(head, head)
        if isinstance(blocks[addr], str):
            blocks[addr] = number(head)
    for a, b, look, count in re.findall(
            r'^ *(n\d+) -> (n\d+) \[(.*?), label="(?:[a-z]| )*([\d,]+)',
            dot, re.M):
        if look.startswith("dir=back"):
            a, b = b, a
        edges.append((names.get(a), names.get(b), number(count)))
    return blocks, edges


def check_counts(t, procedure, profile):
    blocks, edges = drawn(t.tally("graph", "--format", "dot", procedure,
                                  profile)[1])
    want = {r["start"]: r["count"] for r in
            t.parsed("report", "--by", "block", "--all", "--json", profile)
            if r["procedure"] == procedure}
    t.ok(blocks == want and len(blocks) > 3, procedure + ": blocks",
         ["%s, want %s" % (blocks, want)])
    want = sorted(str((r["from"], r["to"], r["count"])) for r in
                  t.parsed("report", "--by", "edge", "--all", "--json",
                           profile)
                  if r["procedure"] == procedure and r["kind"] in LINKS)
    t.same(sorted(map(str, edges)), want, procedure + ": edges")


def check_ran(t, procedure, profile):
    every = drawn(t.tally("graph", "--format", "dot", procedure, profile)[1])
    got = drawn(t.tally("graph", "--ran", "--format", "dot", procedure,
                        profile)[1])
    t.ok(got == ({a: n for a, n in every[0].items() if n},
                 [e for e in every[1] if e[2]]) and got != every,
         procedure + ": --ran", [str(got), str(every)])


def check_loops(t, profile, n):
    g = t.parsed("graph", "--json", "nested", profile)
    loops = [(l["rounds"], l["entered"], l["parent"]) for l in g["loops"]]
    t.same(loops, [(3 * n, n, 1), (n, 1, None)], "a loop in a loop")
    t.same([l["header"] for l in g["loops"]],
           [e["to"] for l in g["loops"] for e in g["edges"]
            if e["back"] and e["to"] == l["header"]], "and their ways back")
    inner = [b["start"] for b in g["blocks"] if b["loop"] == 0]
    outer = [b["start"] for b in g["blocks"] if b["loop"] == 1]
    t.ok(g["loops"][0]["header"] in inner and g["loops"][1]["header"] in
         outer and len(inner) + len(outer) < len(g["blocks"]),
         "which blocks are in them", [str(g)])
    dot = t.tally("graph", "--format", "dot", "nested", profile)[1]
    t.ok('label="loop: entered %d, rounds %d, 3.0 each"' % (n, 3 * n) in dot
         and dot.count("subgraph cluster") == 2, "boxes around them",
         [dot[:2000]])
    t.same(t.parsed("graph", "--json", "choose", profile)["loops"], [],
           "a switch is no loop")


def widths(svg):
    """{count: width} of the lines of edges"""
    out = {}
    for g in svg.getElementsByTagName("g"):
        if g.getAttribute("class") != "edge":
            continue
        texts = [x.firstChild.data for x in g.getElementsByTagName("text")]
        line = g.getElementsByTagName("path")[0]
        n = number(re.search(r"[\d,]+", texts[0])[0])
        out[n] = float(line.getAttribute("stroke-width") or 1)
    return out


def check_svg(t, profile):
    status, out, err = t.tally("graph", "nested", profile)
    svg = xml.dom.minidom.parseString(out.encode())
    text = " ".join(x.firstChild.data for x in
                    svg.getElementsByTagName("text"))
    blocks = t.parsed("graph", "--json", "nested", profile)["blocks"]
    missing = [b["start"] for b in blocks if b["start"] not in text]
    t.ok(status == 0 and not missing and "answers.c:" in text,
         "svg: every block", missing)
    w = widths(svg)
    t.ok([w[n] for n in sorted(w)] == sorted(w.values()) and
         w[max(w)] > 2 * w[1], "svg: widths grow with counts", [str(w)])
    dashed = out.count('stroke-dasharray="5,2"')
    t.ok(dashed >= 2, "svg: what never ran is dashed", [str(dashed)])
    fills = re.findall(r'<polygon fill="(#\w+)"', out)
    t.ok(len(set(fills)) >= 5, "svg: colours", [str(set(fills))])


class Page(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.ids, self.links, self.tags = set(), [], {}

    def handle_starttag(self, tag, attrs):
        a = dict(attrs)
        self.tags[tag] = self.tags.get(tag, 0) + 1
        self.ids.add(a.get("id"))
        self.links += [a[k] for k in ("src", "href", "xlink:href") if k in a]


def check_page(t, profile):
    status, out, err = t.tally("graph", "nested", profile, "--format=html")
    page = Page()
    page.feed(out)
    t.same((status, page.tags.get("svg"), page.tags.get("script"),
            page.links), (0, 1, 1, []), "html: one page, and no links")
    used = set(re.findall(r'get\("(\w+)"\)', out))
    t.ok(used and used <= page.ids, "html: what the script looks for",
         [str(used - page.ids)])
    t.ok("nested - prog</title>" in out and "@" not in
         re.sub(r"(?s)<svg.*</svg>", "", out), "html: title", [out[:300]])
    t.same(set(re.findall(r"https?://[^\"' ]+", out)),
           {"http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"},
           "html: nothing is loaded")
    t.ok(t.tally("graph", "nested", profile, "--format", "ps")[1].startswith(
        "%!PS-Adobe"), "ps")


def check_looks(t):
    p = t.make("stays", "stays")
    dot = t.tally("graph", "--format", "dot", "partly", p)[1]
    t.ok(re.search(r"n\d+ \[label=<<b>not measured</b>.*0x6008  8 bytes: "
                   r'in doubt.*style="filled,dotted"', dot) and
         re.search(r'n0 -> n\d+ \[.*label="  3  42.9%", '
                   r'tooltip="in-place"', dot), "what is not measured", [dot])
    g = t.parsed("graph", "--json", "partly", p)
    t.same(g["not_measured"], [{"start": "0x6008", "end": "0x6010",
                                "reason": "in doubt"}], "and why")
    dot = t.tally("graph", "--format", "dot", "dark", p)[1]
    t.ok("<b>unknown</b>" in dot and "never ran" not in
         dot.split("digraph")[1].split("\n  graph ")[1], "what is unknown",
         [dot])
    dot = t.tally("graph", "--format", "dot", "never", p)[1]
    t.ok(re.search(r'n0 \[label=<never ran .*style="filled,dashed"', dot),
         "what never ran", [dot])
    dot = t.tally("graph", "--format", "dot", "0x500", p)[1]
    t.ok("in%1bflate" in dot and "\x1b" not in dot and "any of these" in dot,
         "names do no harm; a hub", [dot])


def without(t, profile):
    """What there is without the program, and without graphviz."""
    t.refused(4, "x", "graph", "nested", profile, "-o", "/nowhere/x")
    with open(t.path("out"), "w") as f:
        f.write("old")
    got = t.tally("graph", "nested", profile, "-o", "out",
                  env={"PATH": "/nowhere"})
    t.ok(got[0] == 4 and "graphviz is needed" in got[2] and
         open(t.path("out")).read() == "old", "without graphviz", [str(got)])
    got = t.tally("graph", "nested", profile, "--format", "dot",
                  env={"PATH": "/nowhere"})
    t.ok(got[0] == 0 and "digraph" in got[1], "which only draws")
    before = drawn(t.tally("graph", "nested", profile, "--format", "dot")[1])
    os.rename(t.path("prog"), t.path("gone"))
    status, dot, err = t.tally("graph", "nested", profile, "--format", "dot")
    t.ok(status == 0 and drawn(dot) == before and "answers.c" not in dot,
         "without the program there are addresses", [err])


with tempfile.TemporaryDirectory() as where:
    t = Asker(where)
    t.build("prog")
    profile = t.count("p", "prog", "50", "20")
    for procedure in ("nested", "choose", "main"):
        check_counts(t, procedure, profile)
    check_ran(t, "main", profile)
    check_loops(t, profile, 50)
    check_svg(t, profile)
    check_page(t, profile)
    check_looks(t)
    t.same(t.tally("graph", "nested", profile, "-o", "two.svg"), (0, "", ""),
           "-o")
    sum2 = drawn(t.tally("graph", "nested", profile, profile, "--format",
                         "dot")[1])[0]
    one = drawn(t.tally("graph", "nested", profile, "--format", "dot")[1])[0]
    t.same(sum2, {a: 2 * n for a, n in one.items()}, "several profiles")
    without(t, profile)
    t.refused(3, "no procedure called", "graph", "nobody", profile)
    t.refused(3, "no image called", "graph", "main", "--image", "x", profile)
    t.refused(3, "No such file", "graph", "main", "nothing")
    t.refused(2, "missing argument: PROFILE or DB", "graph", "main")
    t.refused(2, "missing argument: PROCEDURE", "graph")
    t.refused(2, "--format takes svg, html, ps or dot", "graph", "main", profile,
              "--format", "gif")
    t.refused(2, "unknown option", "graph", "main", profile, "--wrong")
    t.mutants("p", lambda x: ("graph", "--format", "dot", "main", x), 0)
    t.done()
