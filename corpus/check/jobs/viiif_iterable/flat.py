"""Flatten nested lists of peak positions."""
from collections import Iterable, OrderedDict


def flatten(items):
    for item in items:
        if isinstance(item, Iterable) and not isinstance(item, str):
            yield from flatten(item)
        else:
            yield item


print(list(OrderedDict.fromkeys(flatten([1, [2, [3, 2]], 1]))))
