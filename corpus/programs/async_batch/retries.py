"""Books many flaky services with retries and a limit on how many run at once."""
import asyncio
import random
import sys

rng = random.Random(3)


async def book(number):
    await asyncio.sleep(rng.uniform(0.1, 0.5))
    if rng.random() < 0.3:
        raise ConnectionError(f"booking {number} was dropped")
    return number * 3


async def with_retries(number, gate):
    delay = 0.2
    for attempt in range(6):
        async with gate:
            try:
                return await asyncio.wait_for(book(number), timeout=2)
            except ConnectionError as error:
                print(error, "attempt", attempt)
        await asyncio.sleep(delay)
        delay *= 2
    return None


async def main():
    gate = asyncio.Semaphore(3)
    results = await asyncio.gather(*(with_retries(n, gate) for n in range(int(sys.argv[1]))))
    print(results)


asyncio.run(main())
