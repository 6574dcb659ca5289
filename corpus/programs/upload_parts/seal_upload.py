"""Encrypts a file in the browser-compatible way (PBKDF2 keys, one per block), then uploads it."""
import hashlib
import hmac
import os
import sys

import requests

url, blocks = sys.argv[1], int(sys.argv[2])
secret = b"correct horse battery staple"
sealed = []
for n in range(blocks):
    salt = os.urandom(16)
    key = hashlib.pbkdf2_hmac("sha512", secret, salt, 60_000)
    plain = bytes((n + i) % 251 for i in range(4096))
    stream = b"".join(hmac.digest(key, i.to_bytes(4, "big"), "sha512") for i in range(64))
    sealed.append(salt + bytes(a ^ b for a, b in zip(plain, stream)))
reply = requests.post(url, data=b"".join(sealed), timeout=30)
print(reply.json())
