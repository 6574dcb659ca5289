"""Which kind of file is each? Looks at the first bytes of everything below a folder."""
import os
import sys
from collections import Counter

kinds = Counter()
for folder, _, names in os.walk(sys.argv[1]):
    for name in names:
        with open(os.path.join(folder, name), "rb", buffering=0) as f:
            head = f.read(16)
        if head.startswith(b"\x89PNG"):
            kinds["png"] += 1
        elif head.startswith(b"\x1f\x8b"):
            kinds["gzip"] += 1
        else:
            kinds[f"other {head[0] >> 6}"] += 1
print(kinds)
