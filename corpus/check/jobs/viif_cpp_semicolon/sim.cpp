#include <cstdio>
struct Particle {
    double x, v;
    void move(double dt) { x += v * dt; }
}
int main() {
    Particle p{0, 1};
    p.move(0.5);
    std::printf("%f\n", p.x);
}
