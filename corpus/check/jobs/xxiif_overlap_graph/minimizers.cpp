// all minimizers of a read set, in memory, sorted
#include <algorithm>
#include <cstdint>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>
static uint64_t mix(uint64_t x) { x ^= x >> 31; x *= 0x7fb5d329728ea185ULL; x ^= x >> 27; return x; }
int main(int argc, char **argv) {
    if (argc != 3) { std::cerr << "usage: minimizers READS OUT\n"; return 2; }
    std::ifstream in(argv[1]);
    if (!in) { std::cerr << "cannot open " << argv[1] << '\n'; return 1; }
    std::vector<std::string> reads;
    for (std::string l; std::getline(in, l);) if (!l.empty() && l[0] != '>') reads.push_back(l);
    std::vector<uint64_t> all;
    const int k = 21, w = 11;
#pragma omp parallel for schedule(dynamic, 64)
    for (size_t r = 0; r < reads.size(); ++r) {
        std::vector<uint64_t> h, mine;
        uint64_t v = 0;
        for (size_t i = 0; i < reads[r].size(); ++i) {
            v = ((v << 2) | ((reads[r][i] >> 1) & 3)) & ((1ULL << (2 * k)) - 1);
            if (i + 1 >= (size_t)k) h.push_back(mix(v));
        }
        for (size_t i = 0; i + w <= h.size(); ++i)
            mine.push_back(*std::min_element(h.begin() + i, h.begin() + i + w));
#pragma omp critical
        all.insert(all.end(), mine.begin(), mine.end());
    }
    std::sort(all.begin(), all.end());
    std::ofstream out(argv[2], std::ios::binary);
    out.write(reinterpret_cast<const char *>(all.data()), all.size() * sizeof(uint64_t));
    return out ? 0 : 1;
}
