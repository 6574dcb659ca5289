#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    if (argc < 4) {
        fprintf(stderr, "usage: %s ADDRESS PORT BYTES\n", argv[0]);
        return 2;
    }
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(atoi(argv[2]))};
    inet_pton(AF_INET, argv[1], &to.sin_addr);
    int s = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(s, (struct sockaddr *)&to, sizeof to) < 0) {
        perror("connect");
        return 1;
    }
    dprintf(s, "GET %s\n", argv[3]);
    long left = atol(argv[3]);
    unsigned long sum = 5381;
    static unsigned char block[65536];
    while (left > 0) {
        ssize_t n = recv(s, block, sizeof block, 0);
        if (n <= 0)
            break;
        for (ssize_t i = 0; i < n; i++)
            sum = sum * 33 + block[i];
        left -= n;
    }
    close(s);
    printf("checksum %lx, %ld bytes missing\n", sum, left);
    return left != 0;
}
