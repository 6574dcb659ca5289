// five-point stencil on one GPU
#include <cstdio>
#include <cstdlib>
#include <utility>
#include <cuda_runtime.h>

#define CHECK(x) do { cudaError_t e = (x); if (e != cudaSuccess) { \
    fprintf(stderr, "%s:%d %s\n", __FILE__, __LINE__, cudaGetErrorString(e)); exit(1); } } while (0)

__global__ void step(const float *u, float *v, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int j = blockIdx.y * blockDim.y + threadIdx.y;
    if (i > 0 && j > 0 && i < n - 1 && j < n - 1)
        v[j * n + i] = 0.25f * (u[j * n + i - 1] + u[j * n + i + 1] +
                                u[(j - 1) * n + i] + u[(j + 1) * n + i]);
}

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 512, steps = argc > 2 ? atoi(argv[2]) : 100;
    size_t bytes = (size_t)n * n * sizeof(float);
    float *h = (float *)calloc((size_t)n * n, sizeof(float)), *a, *b;
    for (int i = 0; i < n; i++) h[i] = 1.0f;
    CHECK(cudaMalloc(&a, bytes));
    CHECK(cudaMalloc(&b, bytes));
    CHECK(cudaMemcpy(a, h, bytes, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(b, h, bytes, cudaMemcpyHostToDevice));
    dim3 block(16, 16), grid((n + 15) / 16, (n + 15) / 16);
    for (int s = 0; s < steps; s++) {
        step<<<grid, block>>>(a, b, n);
        std::swap(a, b);
    }
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpy(h, a, bytes, cudaMemcpyDeviceToHost));
    printf("centre %g\n", h[(size_t)(n / 2) * n + n / 2]);
    return 0;
}
