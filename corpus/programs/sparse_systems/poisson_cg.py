"""Poisson equation on a grid: assemble a sparse matrix, solve it by conjugate gradients."""
import sys
import time

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import cg


def laplacian(n):
    one = sparse.diags([-1, 2, -1], [-1, 0, 1], shape=(n, n))
    eye = sparse.identity(n)
    return (sparse.kron(one, eye) + sparse.kron(eye, one)).tocsr()


n, rounds = int(sys.argv[1]), int(sys.argv[2])
begin = time.time()
matrix = laplacian(n)
rhs = np.ones(n * n)
x, info = cg(matrix, rhs, rtol=1e-12, maxiter=rounds)
print(f"{matrix.nnz} entries, residual {np.linalg.norm(matrix @ x - rhs):.3e}, "
      f"{time.time() - begin:.1f} s")
