// checkerboard Metropolis, one thread per spin of a colour
#include <cstdio>
#include <cstdlib>
#include <cmath>

#define CK(x) do { cudaError_t e_ = (x); if (e_ != cudaSuccess) { \
    fprintf(stderr, "%s:%d %s\n", __FILE__, __LINE__, cudaGetErrorString(e_)); exit(1); } } while (0)

__device__ unsigned int xorshift(unsigned int s)
{
    s ^= s << 13; s ^= s >> 17; s ^= s << 5;
    return s;
}

__global__ void init(signed char* s, unsigned int* rng, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) { rng[i] = 2654435761u * (i + 1); s[i] = 1; }
}

__global__ void sweep(signed char* s, unsigned int* rng, int L, int colour, float beta)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y;
    if (x >= L || ((x + y) & 1) != colour) return;
    int i = y * L + x;
    int nn = s[y * L + (x + 1) % L] + s[y * L + (x + L - 1) % L]
           + s[((y + 1) % L) * L + x] + s[((y + L - 1) % L) * L + x];
    float dE = 2.0f * s[i] * nn;
    unsigned int r = xorshift(rng[i]);
    rng[i] = r;
    if (r * 2.3283064e-10f < expf(-beta * dE)) s[i] = -s[i];
}

int main(int argc, char** argv)
{
    if (argc < 4) { fprintf(stderr, "usage: ising T L sweeps\n"); return 2; }
    const float T = atof(argv[1]);
    const int L = atoi(argv[2]), nsw = atoi(argv[3]), n = L * L;
    signed char* s; unsigned int* rng;
    CK(cudaMalloc(&s, n));
    CK(cudaMalloc(&rng, n * sizeof(unsigned int)));
    init<<<(n + 255) / 256, 256>>>(s, rng, n);
    dim3 grid((L + 255) / 256, L);
    for (int k = 0; k < nsw; ++k) {
        sweep<<<grid, 256>>>(s, rng, L, 0, 1.0f / T);
        sweep<<<grid, 256>>>(s, rng, L, 1, 1.0f / T);
    }
    CK(cudaDeviceSynchronize());
    signed char* h = (signed char*)malloc(n);
    CK(cudaMemcpy(h, s, n, cudaMemcpyDeviceToHost));
    double m = 0;
    for (int i = 0; i < n; ++i) m += h[i];
    printf("%g %g\n", T, m / n);
    return 0;
}
