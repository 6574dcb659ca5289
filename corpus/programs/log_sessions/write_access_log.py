"""Write an access log: write_access_log.py LINES FILE"""
import random
import sys

random.seed(4)
n, name = int(sys.argv[1]), sys.argv[2]
agents = ["Mozilla/5.0", "curl/7.88", "python-requests/2.28", "Googlebot/2.1"]
stamp = 1_700_000_000
with open(name, "w") as out:
    for _ in range(n):
        stamp += random.randrange(3)
        ip = f"10.{random.randrange(4)}.{random.randrange(30)}.{random.randrange(200)}"
        path = f"/shop/{random.randrange(400)}/item{random.randrange(50)}.html?ref={random.randrange(9)}"
        out.write(
            f'{ip} - - [{stamp}] "GET {path} HTTP/1.1" {random.choice([200, 200, 200, 304, 404, 500])} '
            f'{random.randrange(40000)} "-" "{random.choice(agents)}" rt={random.random():.4f}\n'
        )
