import collections
import random
import sys
import threading

lock = threading.Lock()
totals = collections.Counter()
done = threading.Semaphore(0)


def count(seed, draws):
    rng = random.Random(seed)
    mine = collections.Counter()
    for _ in range(draws):
        mine[sum(rng.choices(range(1, 7), k=4))] += 1
    with lock:  # everybody waits here for everybody else
        totals.update(mine)
    done.release()


n = int(sys.argv[1])
for seed in range(n):
    threading.Thread(target=count, args=(seed, 30_000)).start()
for _ in range(n):
    done.acquire()
for dots, times in sorted(totals.items()):
    print(f"{dots:3} {times / sum(totals.values()):.5f}")
