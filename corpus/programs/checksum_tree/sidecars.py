"""Write a .crc file next to every file of a folder; each is on the disk before the next is read."""
import os
import sys
import zlib

count = 0
for folder, folders, files in os.walk(sys.argv[1]):
    folders.sort()
    for name in sorted(files):
        if name.endswith(".crc"):
            continue
        path = os.path.join(folder, name)
        with open(path, "rb") as f:
            crc = zlib.crc32(f.read())
        fd = os.open(path + ".crc", os.O_WRONLY | os.O_CREAT | os.O_SYNC)
        os.write(fd, b"%08x\n" % crc)
        os.close(fd)
        count += 1
print(count, "files")
