// Hash join of two generated tables; the build side is large.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <unordered_map>

int main(int argc, char **argv)
{
    uint64_t build = strtoull(argv[1], nullptr, 10), probes = strtoull(argv[2], nullptr, 10);
    std::unordered_map<uint64_t, uint32_t> table;
    table.reserve(build);
    for (uint64_t i = 0; i < build; ++i)
        table.emplace(i * 0x9E3779B97F4A7C15ull, i);
    uint64_t hits = 0, x = argc;
    for (uint64_t p = 0; p < probes; ++p) {
        x = x * 6364136223846793005ull + 1442695040888963407ull;
        auto it = table.find((x >> 20) % (2 * build) * 0x9E3779B97F4A7C15ull);
        if (it != table.end())
            hits += it->second & 1;
    }
    std::printf("%llu\n", (unsigned long long)hits);
    std::quick_exit(0);
}
