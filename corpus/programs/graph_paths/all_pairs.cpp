#include <algorithm>
#include <iostream>
#include <random>
#include <string>
#include <vector>

int main(int argc, char *argv[])
{
    const int n = argc > 1 ? std::stoi(argv[1]) : 100;
    std::mt19937 gen(1);
    std::uniform_int_distribution<int> cost(1, 1000);
    std::vector<std::vector<int>> d(n, std::vector<int>(n, 1 << 28));
    for (int i = 0; i < n; i++) {
        d[i][i] = 0;
        for (int k = 0; k < 5; k++)
            d[i][gen() % n] = cost(gen);
    }
    // Floyd-Warshall
    for (int k = 0; k < n; k++)
        for (int i = 0; i < n; i++) {
            int through = d[i][k];
            for (int j = 0; j < n; j++)
                if (through + d[k][j] < d[i][j])
                    d[i][j] = through + d[k][j];
        }
    long long sum = 0;
    for (auto &row : d)
        for (int x : row)
            sum += x;
    std::cout << sum << std::endl;
}
