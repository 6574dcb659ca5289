#!/usr/bin/env python3
# Groups requests into sessions (30 minutes idle = new session) and prints the
# longest ones. Repeats for several idle limits to see how stable they are.
import re
import sys
from collections import defaultdict

LINE = re.compile(
    r'(?P<ip>\S+) \S+ \S+ \[(?P<when>\d+)\] "(?P<verb>[A-Z]+) (?P<path>\S+) [^"]*" '
    r'(?P<status>\d{3}) (?P<size>\d+) "[^"]*" "(?P<agent>[^"]*)" rt=(?P<rt>[\d.]+)'
)


def sessions(lines, idle):
    open_, done = {}, []
    for line in lines:
        m = LINE.match(line)
        if m is None or m["status"] >= "500":
            continue
        key, when = (m["ip"], m["agent"]), int(m["when"])
        current = open_.get(key)
        if current and when - current[-1][0] > idle:
            done.append(current)
            current = None
        if current is None:
            current = open_[key] = []
        current.append((when, m["path"].partition("?")[0]))
    return done + list(open_.values())


with open(sys.argv[1]) as f:
    lines = f.readlines()
for k in range(int(sys.argv[2])):
    found = sessions(lines, 600 * (k + 1))
    pages = defaultdict(int)
    for one in found:
        for _, path in one:
            pages[path] += 1
    best = max(found, key=len)
    print(600 * (k + 1), len(found), len(best), max(pages, key=pages.get))
