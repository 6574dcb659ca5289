import sys
import time

import requests

RETRY = {429, 502, 503}
session = requests.Session()


def get(url, tries=5):
    """GET that backs off when the service is busy."""
    for attempt in range(tries):
        reply = session.get(url, timeout=10)
        if reply.status_code not in RETRY:
            reply.raise_for_status()
            return reply.json()
        time.sleep(min(2**attempt, 30))
    raise RuntimeError(f"{url}: gave up after {tries} tries")


base, count = sys.argv[1], int(sys.argv[2])
length = 0
for number in range(count):
    item = get(f"{base}/item/{number}?verbose=1")
    length += len(item["name"])
print(f"{count} items, mean length of a name {length / count:.2f}")
