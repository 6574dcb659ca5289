"""Most common words of a text."""
import re
import sys
from collections import Counter

counts = Counter()
with open(sys.argv[1], encoding="utf-8") as book:
    for line in book:
        counts.update(re.findall(r"\w+", line.lower()))
for word, n in counts.most_common(20):
    print(f"{n:8d} {word}")
