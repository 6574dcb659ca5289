#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

int main(void)
{
    int s = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in a;
    memset(&a, 0, sizeof a);
    a.sin_family = AF_INET;
    a.sin_port = htons(7007);
    if (bind(s, (struct sockaddr *)&a, sizeof a) || listen(s, 16))
        return 1;
    for (;;) {
        char buffer[1024];
        ssize_t n;
        int c = accept(s, NULL, NULL);
        while ((n = read(c, buffer, sizeof buffer)) > 0)
            write(c, buffer, n);
        close(c);
    }
}
