#include "sim.hpp"
#include <iostream>
int main() { std::cout << total({1, 2, 3}) << "\n"; }
