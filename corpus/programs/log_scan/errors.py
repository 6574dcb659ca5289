import re
import sys
from collections import defaultdict

LINE = re.compile(r'(\S+) \S+ \S+ \[([^\]]+)\] "(\w+) (\S+) [^"]*" (\d{3}) (\d+)')

by_status = defaultdict(int)
by_path = defaultdict(lambda: [0, 0])
with open(sys.argv[1]) as log:
    for text in log:
        m = LINE.match(text)
        if not m:
            continue
        ip, when, verb, path, status, size = m.groups()
        by_status[status] += 1
        entry = by_path[path]
        entry[0] += 1
        entry[1] += int(size)
print(dict(by_status))
for path, (n, size) in sorted(by_path.items(), key=lambda kv: -kv[1][1])[:10]:
    print(path, n, size)
