"""A pager: 4 KiB pages at any place of one file, each durable when put() returns."""
import os
import random
import struct
import sys
import zlib

PAGE = 4096


class Pager:
    def __init__(self, path, pages):
        self.fd = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
        os.ftruncate(self.fd, pages * PAGE)

    def put(self, number, body):
        head = struct.pack("<II", zlib.crc32(body), len(body))
        os.pwrite(self.fd, (head + body).ljust(PAGE, b"\0"), number * PAGE)
        os.fdatasync(self.fd)


rng = random.Random(3)
pager = Pager("pages.db", 5000)
for n in range(int(sys.argv[1])):
    pager.put(rng.randrange(5000), b"entry %d" % n * 9)
print("ok")
