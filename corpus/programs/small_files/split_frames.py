import os
import sys

# One file per frame, each flushed to disk before the next: the viewer reads them at once.
frames = int(sys.argv[1])
os.mkdir("frames")
for n in range(frames):
    path = f"frames/{n:05}.raw"
    fd = os.open(path, os.O_WRONLY | os.O_CREAT, 0o644)
    os.write(fd, bytes((n + i) % 256 for i in range(256)) * 8)
    os.fsync(fd)
    os.close(fd)
print(frames, "frames")
