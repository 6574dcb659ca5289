"""Miller-Rabin on random numbers of many digits."""
import random
import secrets  # not used for the search, only for the key below
import sys


def is_prime(n, rounds=20):
    if n % 2 == 0:
        return n == 2
    r, d = 0, n - 1
    while d % 2 == 0:
        r, d = r + 1, d // 2
    for _ in range(rounds):
        x = pow(random.randrange(2, n - 1), d, n)
        if x in (1, n - 1):
            continue
        for _ in range(r - 1):
            x = x * x % n
            if x == n - 1:
                break
        else:
            return False
    return True


bits, wanted = int(sys.argv[1]), int(sys.argv[2])
random.seed(1)
found = []
while len(found) < wanted:
    candidate = random.getrandbits(bits) | 1 | 1 << (bits - 1)
    if is_prime(candidate):
        found.append(candidate)
        print(len(found), hex(candidate)[:20], "...")
print(secrets.token_hex(4))
