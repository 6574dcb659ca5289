import collections
import json
import sys

names = collections.Counter(json.load(open(path))["name"] for path in sys.argv[1:])
for name, count in names.most_common():
    print(count, name)
