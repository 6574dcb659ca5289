// direct-sum N body, softened; one thread a particle
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

#define CHECK(x) do { cudaError_t e_ = (x); if (e_ != cudaSuccess) { \
    std::fprintf(stderr, "%s:%d %s\n", __FILE__, __LINE__, cudaGetErrorString(e_)); \
    std::exit(1); } } while (0)

__global__ void step(const float4 *p, float4 *q, float4 *v, int n, float dt)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float4 a = p[i];
    float ax = 0, ay = 0, az = 0;
    for (int j = 0; j < n; ++j) {
        float4 b = p[j];
        float dx = b.x - a.x, dy = b.y - a.y, dz = b.z - a.z;
        float r2 = dx * dx + dy * dy + dz * dz + 1e-4f;
        float w = b.w * rsqrtf(r2 * r2 * r2);
        ax += w * dx; ay += w * dy; az += w * dz;
    }
    v[i].x += dt * ax; v[i].y += dt * ay; v[i].z += dt * az;
    q[i] = make_float4(a.x + dt * v[i].x, a.y + dt * v[i].y, a.z + dt * v[i].z, a.w);
}

int main(int argc, char **argv)
{
    int n = argc > 1 ? std::atoi(argv[1]) : 4096;
    int steps = argc > 2 ? std::atoi(argv[2]) : 10;
    float4 *p, *q, *v;
    CHECK(cudaMallocManaged(&p, n * sizeof *p));
    CHECK(cudaMallocManaged(&q, n * sizeof *q));
    CHECK(cudaMallocManaged(&v, n * sizeof *v));
    for (int i = 0; i < n; ++i) {
        p[i] = make_float4(drand48(), drand48(), drand48(), 1.0f / n);
        v[i] = make_float4(0, 0, 0, 0);
    }
    for (int s = 0; s < steps; ++s) {
        step<<<(n + 255) / 256, 256>>>(p, q, v, n, 1e-3f);
        CHECK(cudaGetLastError());
        CHECK(cudaDeviceSynchronize());
        float4 *t = p; p = q; q = t;
        double k = 0;
        for (int i = 0; i < n; ++i)
            k += 0.5 * p[i].w * (v[i].x * v[i].x + v[i].y * v[i].y + v[i].z * v[i].z);
        std::printf("%d %.8e\n", s, k);
    }
    return 0;
}
