#include <cstdlib>
#include <iostream>
#include "grid.hpp"
int main(int argc, char **argv) {
    if (argc < 3) return 2;
    Grid grid(std::atoi(argv[2]));
    grid.fill(std::atof(argv[1]));
    std::cout << grid.count() << '\n';
}
