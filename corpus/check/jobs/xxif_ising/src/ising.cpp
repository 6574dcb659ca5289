// Metropolis sampling of the two-dimensional Ising model
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <random>

#include "lattice.hpp"

int main(int argc, char **argv) {
    if (argc != 4) {
        std::cerr << "usage: ising T L SWEEPS\n";
        return 2;
    }
    const double T = std::atof(argv[1]);
    const int L = std::atoi(argv[2]);
    const long sweeps = std::atol(argv[3]);

    std::mt19937 rng(12345);
    std::uniform_real_distribution<double> u(0.0, 1.0);
    std::uniform_int_distribution<int> site(0, L - 1);
    Lattice lat(L);

    double sum = 0.0;
    long n = 0;
    for (long s = 0; s < sweeps; ++s) {
        for (int k = 0; k < L * L; ++k) {
            const int i = site(rng), j = site(rng);
            const int dE = 2 * lat(i, j) * lat.neighbours(i, j);
            if (dE <= 0 || u(rng) < std::exp(-dE / T)) lat(i, j) *= -1;
        }
        if (s > sweeps / 5) {
            sum += std::fabs(lat.magnetisation());
            ++n;
        }
    }
    std::cout << T << ' ' << sum / n << '\n';
    return 0;
}
