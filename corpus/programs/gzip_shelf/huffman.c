/* Static Huffman coder: reads a file again and again, writes the packed bits. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct node { long weight; int left, right; };
static struct node nodes[512];
static char code[256][64];

static void walk(int n, char *path, int depth)
{
    if (nodes[n].left < 0) {
        path[depth] = 0;
        strcpy(code[n], depth ? path : "0");
        return;
    }
    path[depth] = '0';
    walk(nodes[n].left, path, depth + 1);
    path[depth] = '1';
    walk(nodes[n].right, path, depth + 1);
}

static int lightest(const char *used, int count)
{
    int best = -1;
    for (int i = 0; i < count; i++)
        if (!used[i] && nodes[i].weight > 0 && (best < 0 || nodes[i].weight < nodes[best].weight))
            best = i;
    return best;
}

int main(int argc, char **argv)
{
    int rounds = atoi(argv[2]);
    long bits = 0;
    for (int r = 0; r < rounds; r++) {
        FILE *in = fopen(argv[1], "rb"), *out = fopen("packed.huf", "wb");
        if (!in || !out)
            return 1;
        char used[512] = {0}, path[64];
        int c, count = 256, first, second;
        memset(nodes, 0, sizeof nodes);
        for (int i = 0; i < 256; i++)
            nodes[i].left = -1;
        while ((c = getc(in)) != EOF)
            nodes[c].weight++;
        for (;;) {
            used[first = lightest(used, count)] = 1;
            if ((second = lightest(used, count)) < 0)
                break;
            used[second] = 1;
            nodes[count++] = (struct node){nodes[first].weight + nodes[second].weight, first, second};
        }
        walk(count - 1, path, 0);
        rewind(in);
        unsigned char buffer = 0;
        int filled = 0;
        while ((c = getc(in)) != EOF)
            for (const char *p = code[c]; *p; p++, bits++) {
                buffer = buffer << 1 | (*p == '1');
                if (++filled == 8)
                    putc(buffer, out), filled = 0;
            }
        putc(buffer << (8 - filled), out);
        fclose(in);
        fclose(out);
    }
    printf("%ld bits per round\n", bits / rounds);
    return 0;
}
