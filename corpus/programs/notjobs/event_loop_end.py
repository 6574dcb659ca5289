import asyncio

loop = asyncio.new_event_loop()
ticks = []


def tick(n):
    ticks.append(loop.time())
    if n == 100:
        loop.stop()
    else:
        loop.call_later(0.05, tick, n + 1)


loop.call_soon(tick, 1)
loop.run_forever()
loop.close()
print(max(b - a for a, b in zip(ticks, ticks[1:])))
