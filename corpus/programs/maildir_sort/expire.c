/* Expires old mail: rewrites each message's flags file and syncs the folder. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    int n = atoi(argv[1]), kept = 0;
    mkdir("cur", 0755);
    int folder = open("cur", O_RDONLY | O_DIRECTORY);
    for (int i = 0; i < n; i++) {
        char name[64], to[64];
        snprintf(name, sizeof name, "cur/%d.flags", i);
        snprintf(to, sizeof to, "cur/%d:2,S", i);
        FILE *f = fopen(name, "w");
        if (!f)
            return 1;
        fprintf(f, "seen=%d\nage=%d\n", i % 2, i % 90);
        fflush(f);
        fsync(fileno(f));
        fclose(f);
        if (i % 90 > 60) {
            unlink(name);
        } else {
            rename(name, to);
            kept++;
        }
        fsync(folder);
    }
    close(folder);
    printf("%d kept\n", kept);
    return 0;
}
