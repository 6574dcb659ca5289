#include <stdio.h>
#include <stdlib.h>

struct node {
    struct node *next;
    long payload[7];
};

int main(int argc, char **argv)
{
    size_t n = argc > 1 ? strtoul(argv[1], NULL, 10) : 1000000;
    size_t hops = argc > 2 ? strtoul(argv[2], NULL, 10) : n;
    struct node *pool = malloc(n * sizeof *pool);
    size_t *order = malloc(n * sizeof *order);

    for (size_t i = 0; i < n; i++)
        order[i] = i;
    /* Sattolo: one cycle through all nodes */
    srandom(1);
    for (size_t i = n - 1; i > 0; i--) {
        size_t j = random() % i, keep = order[i];
        order[i] = order[j];
        order[j] = keep;
    }
    for (size_t i = 0; i < n; i++) {
        pool[order[i]].next = &pool[order[(i + 1) % n]];
        pool[order[i]].payload[0] = i;
    }
    free(order);

    struct node *at = pool;
    long sum = 0;
    while (hops--) {
        sum += at->payload[0];
        at = at->next;
    }
    printf("%ld\n", sum);
    return 0;
}
