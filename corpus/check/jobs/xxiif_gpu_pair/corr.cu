// lag correlation of two pseudo-random antenna signals
#include <cstdio>
#include <cstdlib>
#include <vector>
#include <cuda_runtime.h>
#define CK(x) if ((x) != cudaSuccess) { std::fprintf(stderr, "cuda error line %d\n", __LINE__); return 1; }

__global__ void corr(const float *a, const float *b, float *out, int n, int lags) {
    int l = blockIdx.x * blockDim.x + threadIdx.x;
    if (l >= lags) return;
    float s = 0;
    for (int i = 0; i + l < n; ++i) s += a[i] * b[i + l];
    out[l] = s / (n - l);
}

int main(int argc, char **argv) {
    if (argc < 3) return 2;
    int seed = std::atoi(argv[1]), n = std::atoi(argv[2]), lags = 256;
    std::vector<float> h(n), o(lags);
    std::srand(seed + 1);
    for (auto &v : h) v = std::rand() / (float)RAND_MAX - 0.5f;
    float *a, *out;
    CK(cudaSetDevice(0));            // the only one that this process sees
    CK(cudaMalloc(&a, n * sizeof(float)));
    CK(cudaMalloc(&out, lags * sizeof(float)));
    CK(cudaMemcpy(a, h.data(), n * sizeof(float), cudaMemcpyHostToDevice));
    corr<<<2, 128>>>(a, a, out, n, lags);
    CK(cudaMemcpy(o.data(), out, lags * sizeof(float), cudaMemcpyDeviceToHost));
    for (int l = 0; l < lags; ++l) std::printf("%d %d %g\n", seed, l, o[l]);
    cudaFree(a); cudaFree(out);
    return 0;
}
