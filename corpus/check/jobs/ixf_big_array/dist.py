import numpy as np

N = 200_000
pts = np.random.rand(N, 3)
D = np.zeros((N, N))
for i in range(N):
    D[i] = np.sqrt(((pts - pts[i]) ** 2).sum(axis=1))
print(D.max())
