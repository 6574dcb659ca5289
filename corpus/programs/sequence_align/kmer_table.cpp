#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

// Count 13-mers in a direct table: 4^13 counters.
int main(int argc, char **argv)
{
    std::ifstream in(argv[1]);
    int rounds = argc > 2 ? std::atoi(argv[2]) : 1;
    std::vector<uint32_t> count(1u << 26);
    std::string line, genome;
    while (std::getline(in, line))
        if (line.empty() || line[0] != '>')
            genome += line;
    const uint32_t mask = (1u << 26) - 1;
    for (int r = 0; r < rounds; ++r) {
        uint32_t word = r * 2654435761u;
        for (char c : genome) {
            uint32_t code = c == 'A' ? 0 : c == 'C' ? 1 : c == 'G' ? 2 : 3;
            word = ((word << 2) | (code ^ (r & 3))) & mask;
            ++count[word];
        }
    }
    uint32_t most = 0;
    for (uint32_t c : count)
        most = std::max(most, c);
    std::cout << genome.size() << " bases, most frequent " << most << "\n";
}
