#include <cstdio>
struct Star {
    double mass;
    double age;
}
int main() {
    Star s{1.0, 4.6};
    std::printf("%.1f %.1f\n", s.mass, s.age);
    return 0;
}
