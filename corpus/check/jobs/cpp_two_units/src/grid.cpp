#include "grid.hpp"
#include <random>
Grid::Grid(int size) : n(size), open(size * size, 0) {}
void Grid::fill(double p) {
    std::mt19937 engine(1);
    std::bernoulli_distribution draw(p);
    for (auto &cell : open) cell = draw(engine);
}
int Grid::count() const { int k = 0; for (char c : open) k += c; return k; }
