#pragma once
#include <cmath>
#include <vector>
struct Particle { double x[3], v[3], a[3]; };
inline void kick_drift(std::vector<Particle> &p, double dt) {
    for (auto &q : p) q.a[0] = q.a[1] = q.a[2] = 0;
    for (size_t i = 0; i < p.size(); ++i)
        for (size_t j = 0; j < p.size(); ++j) {
            if (i == j) continue;
            double r[3], r2 = 1e-2;
            for (int d = 0; d < 3; ++d) { r[d] = p[j].x[d] - p[i].x[d]; r2 += r[d] * r[d]; }
            for (int d = 0; d < 3; ++d) p[i].a[d] += r[d] / (64 * r2 * std::sqrt(r2));
        }
    for (auto &q : p) for (int d = 0; d < 3; ++d) { q.v[d] += dt * q.a[d]; q.x[d] += dt * q.v[d]; }
}
inline double kinetic(const std::vector<Particle> &p) {
    double e = 0;
    for (auto &q : p) e += 0.5 * (q.v[0]*q.v[0] + q.v[1]*q.v[1] + q.v[2]*q.v[2]);
    return e / p.size();
}
