#include <cstdio>
#include <cstdlib>
#include <vector>
#include <cuda_runtime.h>

#define CK(x) do { cudaError_t e = (x); if (e != cudaSuccess) { \
    fprintf(stderr, "%s:%d %s\n", __FILE__, __LINE__, cudaGetErrorString(e)); exit(1); } } while (0)

__global__ void kick(const float4 *p, float4 *v, int n, float dt)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float4 a = p[i];
    float ax = 0, ay = 0, az = 0;
    for (int j = 0; j < n; j++) {
        float4 b = p[j];
        float dx = b.x - a.x, dy = b.y - a.y, dz = b.z - a.z;
        float r2 = dx * dx + dy * dy + dz * dz + 1e-4f;
        float w = b.w * rsqrtf(r2) / r2;
        ax += w * dx; ay += w * dy; az += w * dz;
    }
    v[i].x += dt * ax; v[i].y += dt * ay; v[i].z += dt * az;
}

__global__ void drift(float4 *p, const float4 *v, int n, float dt)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) { p[i].x += dt * v[i].x; p[i].y += dt * v[i].y; p[i].z += dt * v[i].z; }
}

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 4096, steps = argc > 2 ? atoi(argv[2]) : 10;
    std::vector<float4> h(n);
    for (auto &q : h) q = make_float4(drand48() - .5, drand48() - .5, drand48() - .5, 1.0f / n);
    float4 *p, *v;
    CK(cudaMalloc(&p, n * sizeof(float4)));
    CK(cudaMalloc(&v, n * sizeof(float4)));
    CK(cudaMemset(v, 0, n * sizeof(float4)));
    CK(cudaMemcpy(p, h.data(), n * sizeof(float4), cudaMemcpyHostToDevice));
    int b = 256, g = (n + b - 1) / b;
    for (int s = 0; s < steps; s++) {
        kick<<<g, b>>>(p, v, n, 1e-3f);
        drift<<<g, b>>>(p, v, n, 1e-3f);
    }
    CK(cudaGetLastError());
    CK(cudaMemcpy(h.data(), p, n * sizeof(float4), cudaMemcpyDeviceToHost));
    double cx = 0;
    for (auto &q : h) cx += q.x * q.w;
    printf("%d %d %.6f\n", n, steps, cx);
    return 0;
}
