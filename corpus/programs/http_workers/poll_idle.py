"""Long polling: asks whether something happened; the server answers late, usually with nothing."""
import json
import sys
import urllib.request

base, rounds = sys.argv[1], int(sys.argv[2])
events = []
for _ in range(rounds):
    with urllib.request.urlopen(f"{base}/idle/2", timeout=30) as reply:
        answer = json.load(reply)
    if answer:
        events.append(answer)
print(len(events), "events")
