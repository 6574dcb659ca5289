"""Access logs of a web shop: one big file, or many small ones."""
import random
import sys

kind, count = sys.argv[1], int(sys.argv[2])
random.seed(8)
paths = [f"/item/{i}" for i in range(500)] + ["/cart", "/pay", "/login"]


def line():
    ip = f"10.{random.randrange(8)}.{random.randrange(256)}.{random.randrange(256)}"
    status = random.choice((200, 200, 200, 304, 404, 500))
    return f'{ip} - - [03/Feb/2025:10:{random.randrange(60):02}:00] "GET {random.choice(paths)} HTTP/1.1" {status} {random.randrange(9000)}\n'


if kind == "one":
    for name, n in (("access.log", count), ("short.log", count // 25)):
        with open(name, "w") as out:
            out.writelines(line() for _ in range(n))
else:
    block = "".join(line() for _ in range(200))
    for i in range(count):
        with open(f"node{i:05}.log", "w") as out:
            out.write(block[i % 900:])
