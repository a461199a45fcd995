"""event_ways: the ways to count events that are measured.

    edges   under `tally count`: an edge profile
    totals  under `tally events` with all 14 events, from such a profile
    insns   --online, one running counter
    four    --online, four of them
    sites   --per-call-site, one event
    stop    --stop-at, beyond the end: code that may trap
    blocks  `tally count --placement redundant`: a counter per block
"""
ALL = ("insns,loads,stores,load-bytes,store-bytes,branches,taken,calls,"
       "indirect-calls,returns,syscalls,fp,vector,atomics")
BEYOND = str(1 << 60)


def ways(tally, tmp):
    """{way: command, without the program}"""
    events = [tally, "events", "--output", tmp + "/counts"]
    count = [tally, "count", "--quiet", "-o", tmp + "/profile"]
    return {
        "edges": count,
        "totals": [*events, "-e", ALL],
        "insns": [*events, "--online", "-e", "insns"],
        "four": [*events, "--online", "-e", "insns,loads,stores,taken"],
        "sites": [*events, "--per-call-site", "-e", "insns", "-o",
                  tmp + "/profile"],
        "stop": [*events, "-e", "insns", "--stop-at", BEYOND],
        "blocks": [*count, "--placement", "redundant"],
    }
