"""Deflection of a loaded beam by relaxation."""
import configparser
import sys


def solve(n, h, rhs, maxiter, tol):
    u = [0.0] * n
    res = 0.0
    for it in range(maxiter):
        res = 0.0
        for i in range(1, n - 1):
            new = 0.5 * (u[i - 1] + u[i + 1] - h * h * rhs[i])
            res = max(res, abs(new - u[i]))
            u[i] = new
        if it % 500 == 0:
            print(f"iteration {it} residual {res:.3e}")
        if res < tol:
            return u, True
    return u, False


def main():
    cfg = configparser.ConfigParser()
    cfg.read(sys.argv[1])
    b, s = cfg["beam"], cfg["solver"]
    n = b.getint("nodes")
    length = b.getfloat("length")
    h = length / (n - 1)
    q, ei = b.getfloat("load"), b.getfloat("stiffness")
    rhs = [-q * (i * h) * (length - i * h) / (2 * ei) for i in range(n)]
    u, ok = solve(n, h, rhs, s.getint("maxiter"), s.getfloat("tolerance"))
    with open(sys.argv[2], "w") as out:
        for i, v in enumerate(u):
            out.write(f"{i * h:.4f},{v:.8e}\n")
    if not ok:
        print("no convergence", file=sys.stderr)
        sys.exit(3)


if __name__ == "__main__":
    main()
