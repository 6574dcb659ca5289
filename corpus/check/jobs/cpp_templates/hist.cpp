#include <cstdlib>
#include <iostream>
#include <map>
#include <string>

#include "detail/bin.hpp"

template <typename T>
using Histogram = std::map<T, std::size_t>;

int main(int argc, char** argv) {
    const int width = argc > 1 ? std::stoi(argv[1]) : 10;
    Histogram<int> counts;
    for (int value; std::cin >> value;) ++counts[bin(value, width)];
    for (const auto& [low, n] : counts) std::cout << low << '\t' << n << '\n';
    return counts.empty() ? EXIT_FAILURE : EXIT_SUCCESS;
}
