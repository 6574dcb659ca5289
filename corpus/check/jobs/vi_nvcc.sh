#!/bin/bash
#SBATCH -p gpu -G 1 --mem=8G --time=30
module load cuda/12.1
nvidia-smi -L
cat > saxpy.cu <<'CU'
#include <cstdio>
template <typename T>
__global__ void saxpy(int n, T a, const T *__restrict__ x, T *y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + y[i];
}
int main()
{
    const int n = 1 << 20;
    float *x, *y;
    cudaMallocManaged(&x, n * sizeof(float));
    cudaMallocManaged(&y, n * sizeof(float));
    for (int i = 0; i < n; i++) { x[i] = 1.f; y[i] = 2.f; }
    saxpy<<<(n + 255) / 256, 256>>>(n, 2.0f, x, y);
    if (cudaDeviceSynchronize() != cudaSuccess) return 1;
    std::printf("%f\n", y[n - 1]);
    cudaFree(x); cudaFree(y);
}
CU
nvcc -arch=sm_80 -o saxpy saxpy.cu && ./saxpy
