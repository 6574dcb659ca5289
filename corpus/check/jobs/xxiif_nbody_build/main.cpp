// leapfrog for a small star cluster, softened gravity
#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>
#include "particles.h"

int main(int argc, char **argv) {
    int steps = argc > 1 ? std::atoi(argv[1]) : 100;
    std::mt19937 gen(42);
    std::normal_distribution<double> g(0.0, 1.0);
    std::vector<Particle> p(64);
    for (auto &q : p)
        for (int d = 0; d < 3; ++d) { q.x[d] = g(gen); q.v[d] = 0.1 * g(gen); q.a[d] = 0; }
    const double dt = 1e-3;
    for (int s = 0; s < steps; ++s) {
        kick_drift(p, dt);
        if (s % 100 == 0) std::printf("%d %.8f\n", s, kinetic(p));
    }
    return 0;
}
