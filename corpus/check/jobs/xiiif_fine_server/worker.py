import sys
import urllib.request

url = f"http://127.0.0.1:{sys.argv[1]}/"
opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
while True:
    with opener.open(url, timeout=20) as r:
        if r.status == 204:
            break
        n = m = int(r.read())
    f, d = [], 2
    while d * d <= m:
        while m % d == 0:
            f.append(d)
            m //= d
        d += 1
    if m > 1:
        f.append(m)
    print(n, *f)
