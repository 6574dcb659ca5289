import asyncio
import sys


async def primes(low, high):
    found = []
    for n in range(low | 1, high, 2):
        if all(n % d for d in range(3, int(n**0.5) + 1, 2)):
            found.append(n)
        if n % 1000 == 1:
            await asyncio.sleep(0)  # let the others in
    return found


async def main(tasks, span):
    base = 10**7
    parts = await asyncio.gather(
        *(primes(base + k * span // 10, base + (k + 1) * span // 10) for k in range(tasks))
    )
    print(sum(len(part) for part in parts), parts[-1][-1])


asyncio.run(main(*map(int, sys.argv[1:])))
