// Assembles a large poster column by column from strips.
#include <cstdio>
#include <cstdlib>
#include <vector>

int main(int argc, char **argv)
{
    const long side = std::atol(argv[1]);
    const int rounds = std::atoi(argv[2]);
    std::vector<unsigned char> strip(side);
    std::vector<unsigned int> poster(side * side);
    for (int r = 0; r < rounds; r++)
        for (long x = 0; x < side; x++) {
            for (long y = 0; y < side; y += 8)
                strip[y] = static_cast<unsigned char>(x * y + r);
            for (long y = 0; y < side; y++)
                poster[y * side + x] += strip[y];
        }
    std::printf("%u\n", poster[side * side / 2 + 17]);
}
