#include <cstdio>
#include <cstdlib>
#include <cstring>

static long nodes;

static bool allowed(const int g[81], int at, int v)
{
    int r = at / 9, c = at % 9, br = r / 3 * 3, bc = c / 3 * 3;
    for (int k = 0; k < 9; ++k)
        if (g[r * 9 + k] == v || g[k * 9 + c] == v || g[(br + k / 3) * 9 + bc + k % 3] == v)
            return false;
    return true;
}

static bool solve(int g[81], int at)
{
    ++nodes;
    while (at < 81 && g[at])
        ++at;
    if (at == 81)
        return true;
    for (int v = 1; v <= 9; ++v)
        if (allowed(g, at, v)) {
            g[at] = v;
            if (solve(g, at + 1))
                return true;
            g[at] = 0;
        }
    return false;
}

int main(int argc, char **argv)
{
    const char *puzzle =
        "..............3.85..1.2.......5.7.....4...1...9.......5......73..2.1........4...9";
    int count = argc > 1 ? std::atoi(argv[1]) : 1, last = argc > 2 ? std::atoi(argv[2]) : 81;
    for (int n = 0; n < count; ++n) {
        int g[81];
        for (int i = 0; i < 81; ++i)
            g[i] = puzzle[i] == '.' || i >= last ? 0 : puzzle[i] - '0';
        g[0] = n % 9 + 1;
        solve(g, 0);
        if (nodes > 20000000L)
            break;
    }
    std::printf("%ld positions\n", nodes);
    return 0;
}
