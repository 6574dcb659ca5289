import json
import multiprocessing
import os
import sys


def save(number):
    path = f"part-{number:05d}.json"
    with open(path, "w") as f:
        json.dump({"number": number, "squares": [k * k for k in range(number % 100)]}, f)
        f.flush()
        os.fsync(f.fileno())
    return path


def main(workers, parts):
    with multiprocessing.Pool(workers) as pool:
        for path in pool.imap_unordered(save, range(parts * 3)):
            last = path
    print("saved, last", last)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
