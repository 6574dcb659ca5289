#include <cstdio>
#include "kernels.cuh"

int main() {
    step<<<1, 32>>>();
    cudaDeviceSynchronize();
    return 0;
}
