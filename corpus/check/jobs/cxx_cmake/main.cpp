#include <iostream>
#include <string>
#include <vector>

int main(int argc, char** argv) {
    int cells = 10;
    for (int i = 1; i + 1 < argc; ++i)
        if (std::string(argv[i]) == "--cells") cells = std::stoi(argv[i + 1]);
    std::vector<double> u(cells, 0.0);
    u.front() = 1.0;
    for (int step = 0; step < 100; ++step)
        for (int i = cells - 1; i > 0; --i) u[i] += 0.5 * (u[i - 1] - u[i]);
    for (double value : u) std::cout << value << '\n';
}
