import json
import sys

# One JSON document per line; some are broken on purpose.
REQUIRED = {"id": int, "name": str, "tags": list, "geo": dict}
bad = good = 0
with open(sys.argv[1], encoding="utf-8") as lines:
    for number, line in enumerate(lines, 1):
        try:
            record = json.loads(line)
            for key, kind in REQUIRED.items():
                if not isinstance(record.get(key), kind):
                    raise ValueError(f"{key} is not {kind.__name__}")
            if not -90 <= record["geo"]["lat"] <= 90:
                raise ValueError("latitude")
            good += 1
        except (ValueError, KeyError) as error:
            bad += 1
            if bad < 4:
                print(number, error)
print(good, bad)
