#include <iostream>

struct Point {
    double x, y;
}

int main() {
    Point p{1, 2};
    std::cout << p.x + p.y << "\n";
}
