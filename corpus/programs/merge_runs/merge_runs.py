"""External sort: sorted runs on disk, merged with a heap."""
import heapq
import os
import random
import sys

runs, length = int(sys.argv[1]), int(sys.argv[2])
rng = random.Random(5)
names = []
for r in range(runs):
    lines = [f"{rng.getrandbits(64):016x} {r} payload\n" for _ in range(length)]
    lines.sort()
    names.append(f"run{r}.txt")
    with open(names[-1], "w") as out:
        out.writelines(lines)
files = [open(name) for name in names]
with open("sorted.txt", "w") as out:
    previous = ""
    for line in heapq.merge(*files, key=lambda line: (line[:16], line)):
        assert line >= previous
        out.write(previous := line)
for f in files:
    f.close()
    os.remove(f.name)
print(os.path.getsize("sorted.txt"))
