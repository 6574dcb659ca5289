// Longest common subsequence of generated documents, by lines.
#include <algorithm>
#include <iostream>
#include <string>
#include <vector>

static int common(const std::vector<int> &a, const std::vector<int> &b)
{
    std::vector<int> row(b.size() + 1, 0);
    for (int x : a) {
        int diagonal = 0;
        for (size_t j = 1; j <= b.size(); ++j) {
            int up = row[j];
            row[j] = x == b[j - 1] ? diagonal + 1 : std::max(up, row[j - 1]);
            diagonal = up;
        }
    }
    return row.back();
}

int main(int argc, char **argv)
{
    int lines = std::stoi(argv[1]), versions = std::stoi(argv[2]);
    std::vector<int> old(lines);
    for (int i = 0; i < lines; ++i)
        old[i] = i * 31 % 97;
    long kept = 0;
    for (int v = 1; v <= versions; ++v) {
        std::vector<int> next = old;
        for (int k = 0; k < lines; k += 7 + v % 5)
            next[k] = v;
        kept += common(old, next);
        old = next;
    }
    std::cout << kept << "\n";
    return argc > 3;
}
