import multiprocessing as mp
import sys
from multiprocessing import shared_memory

import numpy as np


def smooth(name, n, half, rounds):
    block = shared_memory.SharedMemory(name=name)
    data = np.ndarray((n,), dtype=np.float64, buffer=block.buf)[half]
    for _ in range(rounds):
        data[1:-1] += data[2:]
        data[1:-1] *= 0.5
        data[0] = data[-1]
    del data
    block.close()


if __name__ == "__main__":
    workers, n, rounds = map(int, sys.argv[1:])
    block = shared_memory.SharedMemory(create=True, size=8 * n)
    data = np.ndarray((n,), dtype=np.float64, buffer=block.buf)
    data[:] = 1.0
    step = n // workers
    tasks = [mp.Process(target=smooth, args=(block.name, n, slice(k * step, (k + 1) * step), rounds)) for k in range(workers)]
    [t.start() for t in tasks]
    [t.join() for t in tasks]
    print(data.sum())
    del data
    block.close()
    block.unlink()
