// A predator-prey model that keeps its last three states on disk, synced.
#include <cstdio>
#include <string>
#include <vector>
#include <fcntl.h>
#include <unistd.h>

struct State {
    long step = 0;
    double hares = 30, foxes = 4;
};

static bool save(const State &s)
{
    std::string name = "ring." + std::to_string(s.step % 3);
    int fd = open(name.c_str(), O_CREAT | O_WRONLY | O_TRUNC, 0644);
    if (fd < 0)
        return false;
    bool good = write(fd, &s, sizeof s) == sizeof s && fsync(fd) == 0;
    return close(fd) == 0 && good;
}

int main(int argc, char **argv)
{
    long steps = argc > 1 ? std::stol(argv[1]) : 100;
    State s;
    std::vector<double> history;
    while (s.step < steps) {
        for (int k = 0; k < 1000; k++) {
            double h = s.hares, f = s.foxes, dt = 1e-4;
            s.hares += dt * h * (0.8 - 0.03 * f);
            s.foxes += dt * f * (0.02 * h - 0.5);
        }
        s.step++;
        history.push_back(s.hares);
        if (!save(s)) {
            std::perror("checkpoint");
            return 1;
        }
    }
    std::printf("%ld steps, %.3f hares\n", s.step, history.back());
}
