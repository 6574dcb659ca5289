import io
import sys
import tarfile
import time

# A tar archive of many small members, built and read back without touching a disk.
members = int(sys.argv[1])
buffer = io.BytesIO()
with tarfile.open(fileobj=buffer, mode="w") as tar:
    for i in range(members):
        content = f"file number {i}\n".encode() * 20
        info = tarfile.TarInfo(f"dir{i % 40}/file{i}.txt")
        info.size, info.mtime = len(content), int(time.time())
        tar.addfile(info, io.BytesIO(content))
buffer.seek(0)
total = 0
with tarfile.open(fileobj=buffer) as tar:
    for member in tar:
        total += len(tar.extractfile(member).read().splitlines())
print(total)
