import asyncio
import random
import sys


async def player(name, rounds, board):
    for r in range(rounds):
        # think
        await asyncio.sleep(random.uniform(0.05, 0.3))
        async with board["lock"]:
            board[name] = board.get(name, 0) + r


async def main():
    random.seed(1)
    board = {"lock": asyncio.Lock()}
    await asyncio.gather(*(player(f"p{i}", int(sys.argv[1]), board) for i in range(30)))
    print(sum(v for k, v in board.items() if k != "lock"))


asyncio.run(main())
