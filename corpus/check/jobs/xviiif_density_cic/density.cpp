#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <vector>
#include "grid.h"

int main(int argc, char** argv)
{
    if (argc < 2) { std::cerr << "usage: density catalogue\n"; return 1; }
    std::ifstream in(argv[1]);
    if (!in) { std::cerr << "cannot open " << argv[1] << "\n"; return 1; }

    std::vector<double> rho(NG * NG * NG, 0.0);

    double x, y, z, m;
    std::size_t nh = 0;
    while (in >> x >> y >> z >> m) {
        auto ix = static_cast<std::size_t>(x / BOX * NG) % NG;
        auto iy = static_cast<std::size_t>(y / BOX * NG) % NG;
        auto iz = static_cast<std::size_t>(z / BOX * NG) % NG;
        rho[cell(ix, iy, iz)] += m;
        ++nh;
    }
    double mean = 0, var = 0;
#pragma omp parallel for reduction(+ : mean)
    for (std::size_t c = 0; c < rho.size(); ++c) mean += rho[c];
    mean /= static_cast<double>(rho.size());
#pragma omp parallel for reduction(+ : var)
    for (std::size_t c = 0; c < rho.size(); ++c) var += (rho[c] - mean) * (rho[c] - mean);
    std::printf("halos %zu\nmean %g\nvar %g\n", nh, mean, var / rho.size());
    return 0;
}
