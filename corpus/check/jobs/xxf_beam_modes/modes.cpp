#include CONFIG
#include <cmath>
#include <cstdio>

// cantilever: cos(x) cosh(x) = -1, Newton from the asymptotic value
static double root(int n)
{
    double x = (2 * n - 1) * M_PI / 2;
    for (int i = 0; i < 50; i++) {
        double f = std::cos(x) + 1 / std::cosh(x);
        double d = -std::sin(x) - std::tanh(x) / std::cosh(x);
        x -= f / d;
    }
    return x;
}

int main()
{
    for (int n = 1; n <= 4; n++) {
        double b = root(n) / LEN;
        std::printf("%d %.3f Hz\n", n, b * b * std::sqrt(E * I / RHOA) / (2 * M_PI));
    }
}
