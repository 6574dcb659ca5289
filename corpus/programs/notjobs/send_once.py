import os
import sys

import requests

# posts the result of a run to the group's channel
token = os.environ["BOT_TOKEN"]
with open(sys.argv[1]) as f:
    text = f.read(1800)
reply = requests.post(
    "https://chat.example.org/api/message",
    json={"text": text},
    headers={"Authorization": f"Bot {token}"},
    timeout=30,
)
reply.raise_for_status()
