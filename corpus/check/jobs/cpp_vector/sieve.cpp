#include <cstdlib>
#include <iostream>

int main(int argc, char **argv) {
    int n = argc > 1 ? std::atoi(argv[1]) : 50;
    vector<bool> composite(n + 1, false);
    for (int i = 2; i <= n; i++) {
        if (composite[i]) continue;
        std::cout << i << '\n';
        for (int j = i * i; j <= n; j += i) composite[j] = true;
    }
}
