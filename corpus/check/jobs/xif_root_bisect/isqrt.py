import sys


def isqrt(n):
    """largest k with k*k <= n"""
    lo, hi = 0, n + 1
    while lo < hi:
        mid = (lo + hi) // 2
        if mid * mid <= n:
            lo = mid
        else:
            hi = mid - 1
    return lo


n = int(sys.argv[1])
print(n, isqrt(n))
