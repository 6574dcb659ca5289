import re
import sys
import urllib.request
from collections import deque

base, limit = sys.argv[1], int(sys.argv[2])
seen, queue = set(), deque(["/page/0"])
while queue and len(seen) < limit:
    path = queue.popleft()
    if path in seen:
        continue
    seen.add(path)
    with urllib.request.urlopen(base + path) as page:
        text = page.read().decode()
    queue.extend(re.findall(r'href="([^"]+)"', text))
print(len(seen), "pages")
