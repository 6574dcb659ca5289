#include <stdio.h>
#include <stdlib.h>
#include <stdint.h>

#define L 1250
#define NSITES ((size_t)L * L * L)

static int32_t *parent, *size_;

static uint64_t s;
static double rnd(void)
{
    s ^= s << 13; s ^= s >> 7; s ^= s << 17;
    return (double)(s >> 11) / 9007199254740992.0;
}

static int32_t find(int32_t i)
{
    while (parent[i] != i) { parent[i] = parent[parent[i]]; i = parent[i]; }
    return i;
}

static void join(int32_t a, int32_t b)
{
    a = find(a); b = find(b);
    if (a == b) return;
    if (size_[a] < size_[b]) { int32_t t = a; a = b; b = t; }
    parent[b] = a; size_[a] += size_[b];
}

int main(int argc, char **argv)
{
    if (argc != 3) return 2;
    double p = atof(argv[1]);
    s = strtoull(argv[2], NULL, 10) | 1;
    parent = malloc(NSITES * sizeof *parent);
    size_ = malloc(NSITES * sizeof *size_);
    if (!parent || !size_) { perror("malloc"); return 1; }
    for (size_t i = 0; i < NSITES; i++) {
        int open = rnd() < p;
        parent[i] = open ? (int32_t)i : -1;
        size_[i] = open;
        if (!open) continue;
        if (i % L && parent[i - 1] >= 0) join((int32_t)i, (int32_t)(i - 1));
        if (i / L % L && parent[i - L] >= 0) join((int32_t)i, (int32_t)(i - L));
        if (i >= (size_t)L * L && parent[i - L * L] >= 0) join((int32_t)i, (int32_t)(i - L * L));
    }
    int32_t big = 0;
    for (size_t i = 0; i < NSITES; i++) if (size_[i] > big) big = size_[i];
    printf("%s %.6f\n", argv[1], (double)big / NSITES);
    return 0;
}
