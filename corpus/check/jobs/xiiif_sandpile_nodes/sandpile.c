#include <stdio.h>
#include <stdlib.h>

static int L;
static int *z;

static long topple(int pos)
{
    static int *stack;
    static size_t cap;
    size_t top = 0;
    long size = 0;
    if (!stack) {
        cap = 1 << 16;
        stack = malloc(cap * sizeof *stack);
    }
    stack[top++] = pos;
    while (top) {
        int p = stack[--top];
        if (z[p] < 4) continue;
        z[p] -= 4;
        size++;
        int x = p % L, y = p / L;
        int nb[4] = { x > 0 ? p - 1 : -1, x < L - 1 ? p + 1 : -1,
                      y > 0 ? p - L : -1, y < L - 1 ? p + L : -1 };
        if (top + 5 > cap) {
            cap *= 2;
            stack = realloc(stack, cap * sizeof *stack);
        }
        if (z[p] >= 4) stack[top++] = p;
        for (int k = 0; k < 4; k++)
            if (nb[k] >= 0 && ++z[nb[k]] >= 4) stack[top++] = nb[k];
    }
    return size;
}

int main(int argc, char **argv)
{
    if (argc != 4) return 2;
    L = atoi(argv[1]);
    long grains = atol(argv[2]);
    srand(atoi(argv[3]));
    z = calloc((size_t)L * L, sizeof *z);
    for (long g = 0; g < grains; g++) {
        int p = rand() % (L * L);
        z[p]++;
        printf("%ld\n", topple(p));
    }
    return 0;
}
