import os
import shutil
import sys
import urllib.request

base, files = sys.argv[1].rstrip("/"), int(sys.argv[2])
os.makedirs("mirror", exist_ok=True)
for n in range(files):
    target = f"mirror/chunk{n}.bin"
    with urllib.request.urlopen(f"{base}/bytes/{3_000_000 + n * 1000}") as source, open(target, "wb") as out:
        shutil.copyfileobj(source, out)
    print(target, os.path.getsize(target))
