#!/usr/bin/env python3
# PageRank over a crawled neighbourhood. The crawl decides how long this takes.
import re
import sys
import urllib.request
from urllib.parse import urljoin

start, pages, rounds = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
links, todo = {}, [start]
while todo and len(links) < pages:
    url = todo.pop(0)
    with urllib.request.urlopen(url) as page:
        links[url] = [urljoin(url, one) for one in re.findall('href="(.*?)"', page.read().decode())]
    todo += [one for one in links[url] if one not in links]

# the leaves link back to their siblings
numbers = {}
for url, targets in list(links.items()):
    for target in targets:
        links.setdefault(target, [url, *targets])
for k in range(40):
    for url in list(links)[:60]:
        links.setdefault(f"{url}#{k}", [url])
for url in links:
    numbers[url] = len(numbers)
rank = [1 / len(links)] * len(links)
for _ in range(rounds):
    new = [0.15 / len(links)] * len(links)
    for url, targets in links.items():
        share = 0.85 * rank[numbers[url]] / len(targets)
        for target in targets:
            new[numbers[target]] += share
    rank = new
print(max(zip(rank, links)))
