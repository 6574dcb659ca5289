/* Stage that copies what comes through a pipe to a synced journal. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    int records = atoi(argv[1]), size = atoi(argv[2]), ends[2];
    if (pipe(ends))
        return 1;
    if (fork() == 0) {
        char record[4096];
        close(ends[0]);
        for (int i = 0; i < records; i++) {
            memset(record, 'a' + i % 26, size);
            if (write(ends[1], record, size) != size)
                _exit(1);
        }
        _exit(0);
    }
    close(ends[1]);
    int journal = open("journal", O_CREAT | O_WRONLY | O_APPEND, 0644);
    char buffer[64];
    ssize_t n;
    long total = 0;
    while ((n = read(ends[0], buffer, sizeof buffer)) > 0) {
        if (write(journal, buffer, n) != n || fdatasync(journal))
            return 1;
        total += n;
    }
    wait(NULL);
    printf("%ld bytes\n", total);
    return 0;
}
