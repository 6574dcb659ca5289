// price of a call by Monte Carlo, the paths shared by all visible GPUs
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>
#include <cuda_runtime.h>

__device__ unsigned next(unsigned &s) { s ^= s << 13; s ^= s >> 17; s ^= s << 5; return s; }

__global__ void paths(double *out, long n, unsigned seed)
{
    long id = blockIdx.x * (long)blockDim.x + threadIdx.x, stride = (long)gridDim.x * blockDim.x;
    unsigned s = seed ^ (unsigned)(id * 2654435761u + 1u);
    double sum = 0;
    for (long i = id; i < n; i += stride) {
        double u = (next(s) + 1.0) / 4294967297.0, v = next(s) / 4294967296.0;
        double z = sqrt(-2 * log(u)) * cos(6.283185307179586 * v);
        double st = 100 * exp(-0.02 + 0.2 * z);
        sum += st > 105 ? st - 105 : 0;
    }
    atomicAdd(out, sum);
}

int main(int argc, char **argv)
{
    long n = argc > 1 ? atol(argv[1]) : 1000000;
    int ndev = 0;
    if (cudaGetDeviceCount(&ndev) != cudaSuccess || ndev == 0) { fprintf(stderr, "no GPU\n"); return 1; }
    std::vector<double *> d(ndev);
    for (int g = 0; g < ndev; g++) {
        cudaSetDevice(g);
        cudaMalloc(&d[g], sizeof(double));
        cudaMemset(d[g], 0, sizeof(double));
        paths<<<256, 256>>>(d[g], n / ndev, 1234u + g);
    }
    double total = 0;
    for (int g = 0; g < ndev; g++) {
        double part = 0;
        cudaSetDevice(g);
        if (cudaMemcpy(&part, d[g], sizeof part, cudaMemcpyDeviceToHost) != cudaSuccess) return 1;
        total += part;
    }
    printf("price %.5f on %d GPUs\n", total / (n / ndev * ndev), ndev);
    return 0;
}
