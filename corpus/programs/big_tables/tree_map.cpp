#include <cstdio>
#include <cstdlib>
#include <random>
#include <set>

// Keep the intervals of a genome sorted while they arrive in random order.
int main(int argc, char **argv)
{
    long n = argc > 1 ? std::atol(argv[1]) : 100000;
    std::set<std::pair<unsigned, unsigned>> intervals;
    std::mt19937 gen(3);
    long overlaps = 0;
    for (long i = 0; i < n; ++i) {
        unsigned start = gen() % 3000000000u, end = start + gen() % 500;
        auto next = intervals.lower_bound({start, 0});
        if (next != intervals.end() && next->first < end)
            ++overlaps;
        intervals.insert(next, {start, end});
    }
    std::printf("%ld overlaps\n", overlaps);
    std::quick_exit(0);
}
