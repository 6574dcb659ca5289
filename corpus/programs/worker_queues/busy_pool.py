"""A pool of processes that serves requests as fast as it can."""
import multiprocessing as mp
import sys


def collatz(n):
    steps = 0
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    return steps


if __name__ == "__main__":
    top, processes = int(sys.argv[1]), int(sys.argv[2])
    with mp.Pool(processes) as pool:
        longest = max(pool.imap_unordered(collatz, range(1, top), chunksize=1000))
    print(longest)
