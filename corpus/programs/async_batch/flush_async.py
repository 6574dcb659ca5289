"""Write parts with asyncio; each part must be on the disk before it is reported."""
import asyncio
import os
import sys


def store(name, data):
    with open(name, "wb") as f:
        f.write(data)
        f.flush()
        os.fsync(f.fileno())
    return len(data)


async def main(parts):
    block = os.urandom(1 << 18)
    total = 0
    for n in range(parts):
        total += await asyncio.to_thread(store, f"part{n:04d}.bin", block)
    print(total >> 20, "MiB stored")


asyncio.run(main(int(sys.argv[1])))
