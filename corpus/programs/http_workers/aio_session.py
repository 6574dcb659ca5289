import asyncio
import sys

import aiohttp


async def main(base, count):
    limit = aiohttp.TCPConnector(limit=2)
    async with aiohttp.ClientSession(base, connector=limit) as session:

        async def words(n):
            async with session.get(f"/words/{400 + n}") as reply:
                reply.raise_for_status()
                return (await reply.text()).count("amber")

        counts = await asyncio.gather(*(words(n) for n in range(count)))
    print(sum(counts))


asyncio.run(main(sys.argv[1], int(sys.argv[2])))
