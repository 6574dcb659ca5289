import argparse
import hashlib
import os
import socket  # for the host name in the report

ap = argparse.ArgumentParser()
ap.add_argument("users", type=int)
ap.add_argument("--rounds", type=int, default=100_000)
o = ap.parse_args()
for u in range(o.users):
    salt = os.urandom(16)
    key = hashlib.pbkdf2_hmac("sha256", f"user{u}".encode(), salt, o.rounds)
    print(f"{socket.gethostname()}:{u}:{salt.hex()}:{key.hex()}")
