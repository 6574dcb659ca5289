#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct record {
    uint64_t sequence;
    uint32_t account;
    int32_t cents;
    char note[48];
};

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 1000;
    int fd = open("audit.bin", O_WRONLY | O_CREAT | O_TRUNC | O_DSYNC, 0644);
    if (fd < 0) {
        perror("audit.bin");
        return 1;
    }
    int64_t balance = 0;
    for (int i = 0; i < n; i++) {
        struct record r = {.sequence = i, .account = i * 7919u % 1000, .cents = (i * 31) % 977 - 400};
        snprintf(r.note, sizeof r.note, "transfer %d", i);
        balance += r.cents;
        if (write(fd, &r, sizeof r) != sizeof r) {
            perror("write");
            return 1;
        }
    }
    close(fd);
    printf("%d records, balance %lld\n", n, (long long)balance);
    return 0;
}
