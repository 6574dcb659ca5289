import asyncio
import sys

CODE = """
import sys
n = int(sys.argv[1])
count = 0
def place(row, cols, left, right):
    global count
    if row == n:
        count += 1
        return
    for c in range(n):
        if not (cols >> c & 1 or left >> (row + c) & 1 or right >> (row - c + n) & 1):
            place(row + 1, cols | 1 << c, left | 1 << (row + c), right | 1 << (row - c + n))
place(0, 0, 0, 0)
print(n, count)
"""


async def queens(n):
    child = await asyncio.create_subprocess_exec(
        sys.executable, "-c", CODE, str(n), stdout=asyncio.subprocess.PIPE
    )
    out, _ = await child.communicate()
    return out.decode().strip()


async def main():
    for k in range(int(sys.argv[1])):
        print(await queens(7 + k % 3))


asyncio.run(main())
