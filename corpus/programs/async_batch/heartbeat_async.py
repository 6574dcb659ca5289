import asyncio
import sys
import time


async def heartbeat(stop):
    beats = 0
    while not stop.is_set():
        beats += 1
        try:
            await asyncio.wait_for(stop.wait(), 0.05)
        except asyncio.TimeoutError:
            pass
    return beats


async def main(seconds):
    stop = asyncio.Event()
    beat = asyncio.create_task(heartbeat(stop))
    child = await asyncio.create_subprocess_exec("sleep", str(seconds))
    began = time.monotonic()
    await child.wait()
    stop.set()
    print(f"{await beat} beats in {time.monotonic() - began:.1f} s")


asyncio.run(main(float(sys.argv[1])))
