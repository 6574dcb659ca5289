// site percolation: labels of clusters by repeated minima of neighbours
#include <cstdio>
#include <cstdlib>

__global__ void fill(int *label, int n, unsigned seed, float p)
{
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k >= n * n) return;
    unsigned s = seed ^ (k * 2654435761u);
    s ^= s << 13; s ^= s >> 17; s ^= s << 5;
    label[k] = s * 2.3283064e-10f < p ? k : -1;
}

__global__ void spread(int *label, int n, int *changed)
{
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k >= n * n || label[k] < 0) return;
    int x = k % n, y = k / n, low = label[k];
    if (x > 0 && label[k - 1] >= 0) low = min(low, label[k - 1]);
    if (x < n - 1 && label[k + 1] >= 0) low = min(low, label[k + 1]);
    if (y > 0 && label[k - n] >= 0) low = min(low, label[k - n]);
    if (y < n - 1 && label[k + n] >= 0) low = min(low, label[k + n]);
    if (low < label[k]) { label[k] = low; *changed = 1; }
}

int main(int argc, char **argv)
{
    float p = argc > 1 ? std::atof(argv[1]) : 0.59f;
    int n = argc > 2 ? std::atoi(argv[2]) : 1024;
    int *label, *changed, blocks = (n * n + 255) / 256;
    if (cudaMallocManaged(&label, n * n * sizeof(int)) != cudaSuccess ||
        cudaMallocManaged(&changed, sizeof(int)) != cudaSuccess) {
        std::fprintf(stderr, "no memory on the device\n");
        return 1;
    }
    fill<<<blocks, 256>>>(label, n, 42u, p);
    do {
        cudaDeviceSynchronize();
        *changed = 0;
        spread<<<blocks, 256>>>(label, n, changed);
        cudaDeviceSynchronize();
    } while (*changed);
    long clusters = 0;
    for (int k = 0; k < n * n; ++k) clusters += label[k] == k;
    std::printf("%g %ld\n", p, clusters);
    return 0;
}
