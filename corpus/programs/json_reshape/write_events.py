import json
import random
import sys

random.seed(6)
with open(sys.argv[2], "w") as out:
    for n in range(int(sys.argv[1])):
        json.dump(
            {
                "id": n,
                "user": {"name": f"u{random.randrange(500)}", "tags": random.sample("abcdefgh", random.randrange(5))},
                "steps": [{"at": random.random() * 1e4, "what": random.choice(["click", "scroll", "buy"])} for _ in range(random.randrange(1, 7))],
                "note": "x" * random.randrange(80) + "\u00e9\n",
            },
            out,
        )
        out.write("\n")
