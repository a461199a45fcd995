"""
option_texts: the options of a command, as each text that is made of the tables
of options tells them: the help, the manual page, and the scripts for shells.
Each is read as a person or shell would, by what is written there.
"""
import re


class Option:
    """Its spellings, the placeholder of its value or None, and its choices."""

    def __init__(self, spellings, value):
        self.spellings, self.value, self.choices = spellings, value, []


def commands(text):
    """The commands that `tally help` lists, with what it says of them."""
    return re.findall(r"^  (\w+)  +(.*)", text, re.M)


def helped(text):
    """{long name: Option} of a help text."""
    out, last = {}, None
    for line in text.splitlines():
        m = re.match(r"  (?:(-\w), )?(--[\w-]+)(?: (\S+))?(?=  |$)", line)
        choice = re.match(r"    ([a-z][\w-]*)(?=  |$)", line)
        if m:
            last = Option([w for w in m.groups()[:2] if w], m[3])
            # words with bars between them; placeholders are in capitals
            last.choices = [w for w in re.split(r"\|", m[3] or "")
                            if re.fullmatch(r"[a-z][\w-]*", w)]
            out[m[2]] = last
        elif choice and last:
            last.choices.append(choice[1])
    return out


def spelled(options):
    """{spelling: takes a value}"""
    return {w: bool(o.value) for o in options.values() for w in o.spellings}


def plain(roff):
    return re.sub(r"\\f.", "", roff).replace(r"\-", "-")


def in_manual(page):
    """{spelling: takes a value} of the page's section, and its choices."""
    section = re.search(r"^\.SH OPTIONS\n(.*?)(?=^\.SH |\Z)", page,
                        re.M | re.S)[1]
    found, choices = {}, set()
    depth = 0
    lines = section.splitlines()
    for i, line in enumerate(lines):
        depth += {".RS": 1, ".RE": -1}.get(line, 0)
        if line == ".TP" and depth:
            choices.add(plain(lines[i + 1]))
        elif line == ".TP":
            head = re.match(r"((?:-\w, )?--[\w-]+)(?: (\S.*))?$",
                            plain(lines[i + 1]))
            for word in head[1].split(", "):
                found[word] = bool(head[2])
    return found, choices


def in_bash(script, command):
    """The same of the tables in a script for bash."""
    words = re.search(r"^\t\[%s\]='(.*)'$" % command, script, re.M)[1].split()
    values = dict(re.findall(r"^\t\['%s (-\S+)'\]='(.*)'$" % command, script,
                             re.M))
    return ({w: w in values for w in words},
            {v for line in values.values() for v in line.split()
             if not v.startswith("@")})


def in_fish(script, command):
    found, choices = {}, set()
    for line in re.findall(r"^complete -c tally -n '__tally_in %s' (-[sl] .*)"
                           % command, script, re.M):
        m = re.match(r"(?:-s (\w) )?-l ([\w-]+)( -[rx])?", line)
        for word in ("-" + m[1] if m[1] else None, "--" + m[2]):
            if word:
                found[word] = bool(m[3])
        for listed in re.findall(r" -a '((?:\\'|[^'])*)'", line):
            choices |= set(re.findall(r'([\w-]+)\\t"', listed))
            for words in re.findall(r"__tally_offer ([^)]*)", listed):
                choices |= {w for w in words.split() if w[0] != "@"}
    return found, choices


def in_zsh(script, command):
    body = re.search(r"^_tally_of_%s\(\) \{\n(.*?)^\}" % command, script,
                     re.M | re.S)[1]
    found, choices = {}, set()
    for line in body.splitlines():
        m = re.match(r"\t'(?:\([^)]*\))?\*?(--?[\w-]+)([=+]?)\[(.*)", line)
        if not m:
            continue
        found[m[1]] = bool(m[2])
        choices |= set(re.findall(r'([\w-]+)\\:"', m[3]))
        for words in re.findall(r":_tally_offer ([^']*)'", m[3]):
            choices |= {w for w in words.split() if w[0] != "@"}
    return found, choices
