#include <stdio.h>
#include <stdlib.h>

int main(void)
{
    int counts[10] = {0};
    for (int i = 0; i < 1000; i++) {
        int bin = rand() % 10;
        counts[bin]++;
    }
    for (int b = 0; b < 10; b++)
        printf("%d %d\n", b, count[b]);
    return 0;
}
