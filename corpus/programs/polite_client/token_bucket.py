"""Ask the API for items, at most 2.5 requests a second as its terms say."""
import json
import sys
import time
import urllib.request


class Bucket:
    def __init__(self, rate, size):
        self.rate, self.size = rate, size
        self.tokens, self.last = size, time.monotonic()

    def take(self):
        now = time.monotonic()
        self.tokens = min(self.size, self.tokens + (now - self.last) * self.rate)
        self.last = now
        if self.tokens < 1:
            time.sleep((1 - self.tokens) / self.rate)
            self.tokens += (1 - self.tokens)
            self.last = time.monotonic()
        self.tokens -= 1


base, count = sys.argv[1], int(sys.argv[2])
bucket = Bucket(2.5, 2)
names = {}
for k in range(count):
    bucket.take()
    with urllib.request.urlopen(f"{base}/item/{k}?fields=name") as answer:
        item = json.load(answer)
    names[item["id"]] = item["name"]
print(len(names), "items,", len(set(names.values())), "names")
