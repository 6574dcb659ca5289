import os
import shelve
import sys

visits = int(sys.argv[1])
for n in range(visits):
    with shelve.open("visitors", writeback=False) as shelf:
        name = f"guest{n % 23}"
        shelf[name] = shelf.get(name, 0) + 1
    for part in os.listdir("."):
        if part.startswith("visitors"):
            fd = os.open(part, os.O_RDONLY)
            os.fsync(fd)
            os.close(fd)
with shelve.open("visitors") as shelf:
    print(sum(shelf.values()), "visits")
