#include <cstdio>
#include <cstdlib>
#include <vector>

__global__ void square(double *x, int n)
{
    for (int k = blockIdx.x * blockDim.x + threadIdx.x; k < n; k += gridDim.x * blockDim.x)
        x[k] *= x[k];
}

int main(int argc, char **argv)
{
    int n = argc > 1 ? std::atoi(argv[1]) : 1000, devices = 0;
    std::vector<double> x(n);
    for (int k = 0; k < n; ++k) x[k] = (k % 97) / 97.0 - 0.5;
    if (cudaGetDeviceCount(&devices) == cudaSuccess && devices > 0) {
        double *there;
        if (cudaMalloc(&there, n * sizeof(double)) != cudaSuccess) return 1;
        cudaMemcpy(there, x.data(), n * sizeof(double), cudaMemcpyHostToDevice);
        square<<<256, 256>>>(there, n);
        cudaMemcpy(x.data(), there, n * sizeof(double), cudaMemcpyDeviceToHost);
    } else {
        for (double &one : x) one *= one;
    }
    double sum = 0;
    for (double one : x) sum += one;
    std::printf("%d %.9f\n", devices, sum);
    return 0;
}
