// Box filters of a small camera frame through its integral image.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

int main(int argc, char **argv)
{
    const int w = 320, h = 240;
    int frames = argc > 1 ? std::atoi(argv[1]) : 100;
    std::vector<uint8_t> frame(w * h);
    std::vector<uint32_t> sum((w + 1) * (h + 1));
    uint64_t check = 0;
    for (int f = 0; f < frames; ++f) {
        for (int i = 0; i < w * h; ++i)
            frame[i] = (i * 7 + f * 13) & 255;
        for (int y = 1; y <= h; ++y) {
            uint32_t row = 0;
            for (int x = 1; x <= w; ++x) {
                row += frame[(y - 1) * w + x - 1];
                sum[y * (w + 1) + x] = sum[(y - 1) * (w + 1) + x] + row;
            }
        }
        for (int y = 8; y <= h; ++y)
            for (int x = 8; x <= w; ++x)
                check += (sum[y * (w + 1) + x] - sum[(y - 8) * (w + 1) + x]
                          - sum[y * (w + 1) + x - 8] + sum[(y - 8) * (w + 1) + x - 8]) >> 6;
    }
    std::printf("%llu\n", (unsigned long long)check);
}
