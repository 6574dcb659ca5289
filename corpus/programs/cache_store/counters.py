import sys

import redis

store = redis.Redis(port=int(sys.argv[1]))
for n in range(int(sys.argv[2])):
    store.hset(f"page:{n % 7}", mapping={"hits": n, "body": f"<p>line {n}</p>" * 20})
    store.hgetall("page:0")
print({key.decode(): int(store.hget(key, "hits")) for key in store.keys("page:*")})
