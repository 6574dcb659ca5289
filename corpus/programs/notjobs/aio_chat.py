import asyncio

clients = set()


async def talk(reader, writer):
    clients.add(writer)
    try:
        while line := await reader.readline():
            for other in clients - {writer}:
                other.write(line)
                await other.drain()
    finally:
        clients.discard(writer)
        writer.close()


async def main():
    server = await asyncio.start_server(talk, "0.0.0.0", 7000)
    async with server:
        await server.serve_forever()


asyncio.run(main())
