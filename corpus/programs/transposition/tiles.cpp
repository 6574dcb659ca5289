// Transpose the 8x8 tiles of an image after a cosine transform of each.
#include <array>
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <vector>

using Tile = std::array<std::array<float, 8>, 8>;

static void rows(Tile &t, const Tile &basis)
{
    for (auto &row : t) {
        std::array<float, 8> out{};
        for (int k = 0; k < 8; ++k)
            for (int x = 0; x < 8; ++x)
                out[k] += row[x] * basis[k][x];
        row = out;
    }
}

static void turn(Tile &t)
{
    for (int i = 0; i < 8; ++i)
        for (int j = i + 1; j < 8; ++j)
            std::swap(t[i][j], t[j][i]);
}

int main(int argc, char **argv)
{
    int tiles = argc > 1 ? std::atoi(argv[1]) : 1000;
    int frames = argc > 2 ? std::atoi(argv[2]) : 10;
    Tile basis;
    for (int k = 0; k < 8; ++k)
        for (int x = 0; x < 8; ++x)
            basis[k][x] = std::cos(M_PI / 8 * (x + 0.5) * k) / 2;
    std::vector<Tile> image(tiles);
    for (int i = 0; i < tiles; ++i)
        for (int j = 0; j < 64; ++j)
            image[i][j / 8][j % 8] = (i * 31 + j * 17) % 256;
    double sum = 0;
    for (int f = 0; f < frames; ++f)
        for (auto &tile : image) {
            Tile work = tile;
            rows(work, basis);
            turn(work);
            rows(work, basis);
            turn(work);
            sum += work[0][0];
        }
    std::cout << sum << "\n";
}
