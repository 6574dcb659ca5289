// Follows foreign keys from table to table: each row names the next.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <random>
#include <utility>
#include <vector>

struct Row {
    uint32_t next;
    uint32_t weight;
};

int main(int argc, char **argv)
{
    const size_t n = std::strtoul(argv[1], nullptr, 10);
    const size_t hops = std::strtoul(argv[2], nullptr, 10);
    std::vector<Row> table(n);
    for (size_t i = 0; i < n; i++)
        table[i] = {static_cast<uint32_t>(i), static_cast<uint32_t>(i % 101)};
    std::minstd_rand rng(9);
    for (size_t i = n - 1; i > 0; i--)
        std::swap(table[i].next, table[rng() % i].next);
    uint64_t sum = 0;
    uint32_t at = 0;
    for (size_t h = 0; h < hops; h++) {
        sum += table[at].weight;
        at = table[at].next;
    }
    std::printf("%llu\n", static_cast<unsigned long long>(sum));
}
