import functools
def counter(start=0):
    value = start
    def step(by=1, *more, scale=1, **rest):
        nonlocal value
        value += by * scale + sum(more) + len(rest)
        return value
    return step
step = counter(5)
print(step(), step(2, 3, scale=2), step(1, name="x"))
twice = functools.partial(step, 2)
print(twice())
while True:
    if step() > 20:
        break
