// BGK relaxation kernel of the cavity, only the collision step
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#define CHECK(c) do { cudaError_t e = (c); if (e != cudaSuccess) { \
    std::fprintf(stderr, "%s\n", cudaGetErrorString(e)); std::exit(1); } } while (0)

__global__ void collide(float *f, const float *feq, float omega, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) f[i] += omega * (feq[i] - f[i]);
}

int main(int argc, char **argv) {
    int side = argc > 1 ? std::atoi(argv[1]) : 512;
    int steps = argc > 2 ? std::atoi(argv[2]) : 100;
    int n = side * side;
    float *f, *feq;
    CHECK(cudaMalloc(&f, n * sizeof(float)));
    CHECK(cudaMalloc(&feq, n * sizeof(float)));
    CHECK(cudaMemset(f, 0, n * sizeof(float)));
    CHECK(cudaMemset(feq, 0, n * sizeof(float)));
    for (int s = 0; s < steps; ++s)
        collide<<<(n + 255) / 256, 256>>>(f, feq, 1.2f, n);
    CHECK(cudaDeviceSynchronize());
    std::printf("done %d steps on %d cells\n", steps, n);
    CHECK(cudaFree(f)); CHECK(cudaFree(feq));
    return 0;
}
