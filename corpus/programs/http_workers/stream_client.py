"""HTTP by hand on asyncio streams: several downloads at once."""
import asyncio
import sys


async def fetch(host, port, path):
    reader, writer = await asyncio.open_connection(host, port)
    writer.write(f"GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n".encode())
    head = await reader.readuntil(b"\r\n\r\n")
    assert b" 200 " in head.splitlines()[0], head
    size = 0
    while data := await reader.read(1 << 16):
        size += len(data)
    writer.close()
    return size


async def main(host, port, count, size):
    jobs = [fetch(host, port, f"/bytes/{int(size) + n}") for n in range(int(count))]
    for done in asyncio.as_completed(jobs):
        print(await done, "bytes")
    again = await fetch(host, port, f"/bytes/{size}")
    print("again:", again)


asyncio.run(main(*sys.argv[1:]))
