import sys

n = int(sys.argv[1])
a = [[1.0 / (i + j + 1) + (i == j) for j in range(n)] for i in range(n)]
for k in range(n):
    for i in range(k + 1, n):
        f = a[i][k] / a[k][k]
        row, pivot = a[i], a[k]
        for j in range(k, n):
            row[j] -= f * pivot[j]
det = 1.0
for k in range(n):
    det *= a[k][k]
with open("solver.out", "w") as out:
    print(det, file=out)
