/* Breadth-first search of a large random graph in adjacency arrays. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
    uint32_t n = strtoul(argv[1], NULL, 10), degree = 8;
    int sources = atoi(argv[2]);
    uint32_t *target = malloc((size_t)n * degree * sizeof *target);
    uint32_t *queue = malloc(n * sizeof *queue);
    int32_t *level = malloc(n * sizeof *level);
    uint64_t x = 42;
    (void)argc;
    for (size_t e = 0; e < (size_t)n * degree; e++) {
        x = x * 6364136223846793005ULL + 1;
        target[e] = (x >> 32) % n;
    }
    for (int s = 0; s < sources; s++) {
        uint32_t head = 0, tail = 0;
        memset(level, 0xff, n * sizeof *level);
        queue[tail++] = s;
        level[s] = 0;
        while (head < tail) {
            uint32_t v = queue[head++];
            for (uint32_t k = 0; k < degree; k++) {
                uint32_t w = target[(size_t)v * degree + k];
                if (level[w] < 0) {
                    level[w] = level[v] + 1;
                    queue[tail++] = w;
                }
            }
        }
        printf("source %d: %u reached, depth %d\n", s, tail, level[queue[tail - 1]]);
    }
    return 0;
}
