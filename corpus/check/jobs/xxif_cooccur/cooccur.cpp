// counts how often two OTUs are found in the same sample
#include <cstdint>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

constexpr std::size_t NOTU = 60000;

int main(int argc, char **argv) {
    if (argc != 2) {
        std::cerr << "usage: cooccur TABLE\n";
        return 2;
    }
    std::ifstream in(argv[1]);
    if (!in) {
        std::cerr << "cannot open " << argv[1] << '\n';
        return 1;
    }
    // dense matrix, one cell for each pair
    std::vector<double> count(NOTU * NOTU, 0.0);

    std::string line;
    while (std::getline(in, line)) {
        std::istringstream ss(line);
        std::size_t sample, otu;
        ss >> sample;
        std::vector<std::size_t> here;
        while (ss >> otu)
            if (otu < NOTU) here.push_back(otu);
        for (auto a : here)
            for (auto b : here)
                if (a != b) count[a * NOTU + b] += 1.0;
    }
    for (std::size_t a = 0; a < NOTU; ++a)
        for (std::size_t b = a + 1; b < NOTU; ++b)
            if (count[a * NOTU + b] > 1.0)
                std::cout << a << '\t' << b << '\t' << count[a * NOTU + b] << '\n';
    return 0;
}
