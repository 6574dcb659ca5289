import sys


def primes(n):
    """Sieve with slices of a bytearray."""
    flags = bytearray([1]) * (n // 2)
    for i in range(3, int(n**0.5) + 1, 2):
        if flags[i // 2]:
            flags[i * i // 2 :: i] = bytes(len(range(i * i // 2, n // 2, i)))
    return 1 + sum(flags[1:])


print(primes(int(sys.argv[1])))
