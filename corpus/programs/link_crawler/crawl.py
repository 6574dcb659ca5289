"""Breadth-first crawl from a start page."""
import collections
import re
import sys
from html.parser import HTMLParser
from urllib.parse import urljoin
from urllib.request import urlopen


class Links(HTMLParser):
    def __init__(self):
        super().__init__()
        self.found = []

    def handle_starttag(self, tag, attrs):
        if tag == "a":
            self.found += [value for name, value in attrs if name == "href"]


start, most = sys.argv[1], int(sys.argv[2])
queue, seen, titles = collections.deque([start]), {start}, {}
while queue and len(titles) < most:
    url = queue.popleft()
    text = urlopen(url, timeout=10).read().decode()
    titles[url] = re.search("<title>(.*?)</title>", text)[1]
    parser = Links()
    parser.feed(text)
    for link in parser.found:
        full = urljoin(url, link)
        if full not in seen:
            seen.add(full)
            queue.append(full)
print(len(titles), "pages,", len(queue), "left")
