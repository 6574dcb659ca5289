import concurrent.futures
import sys
import threading

import requests

local = threading.local()


def title(url):
    if not hasattr(local, "session"):
        local.session = requests.Session()
    text = local.session.get(url, timeout=20).text
    return text[text.index("<title>") + 7 : text.index("</title>")]


base, count, workers = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
urls = [f"{base}/page/{n}" for n in range(count)]
with concurrent.futures.ThreadPoolExecutor(workers) as pool:
    titles = list(pool.map(title, urls))
print(len(set(titles)), titles[-1])
