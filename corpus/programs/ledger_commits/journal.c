/* Append-only journal: a record is acknowledged when it is on disk. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    int records = argc > 1 ? atoi(argv[1]) : 100;
    int fd = open("journal.log", O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0644);
    char line[128];
    if (fd < 0) {
        perror("journal.log");
        return 1;
    }
    for (int i = 0; i < records; i++) {
        int size = snprintf(line, sizeof line, "%08d transfer %d to %d\n", i, i * 7 % 100, i * 13 % 100);
        if (write(fd, line, size) != size || fdatasync(fd) != 0) {
            perror("write");
            return 1;
        }
    }
    close(fd);
    printf("%d records acknowledged\n", records);
    return 0;
}
