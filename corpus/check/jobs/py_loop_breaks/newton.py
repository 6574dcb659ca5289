x = 1.0
while True:
    step = (x * x - 2) / (2 * x)
    x -= step
    if abs(step) < 1e-12:
        break
print(x)


def chunks(stream):
    while True:
        block = stream.read(4)
        if not block:
            return
        yield block
