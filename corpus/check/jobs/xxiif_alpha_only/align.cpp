// IBM model 1, ten iterations
#include <fstream>
#include <iostream>
#include <map>
#include <sstream>
#include <string>
#include <vector>
using Sent = std::vector<std::string>;
static std::vector<Sent> load(const char *f) {
    std::ifstream in(f);
    std::vector<Sent> v;
    for (std::string l; std::getline(in, l);) {
        std::istringstream s(l); Sent w; std::string x;
        while (s >> x) w.push_back(x);
        v.push_back(w);
    }
    return v;
}
int main(int argc, char **argv) {
    if (argc != 3) return 2;
    auto e = load(argv[1]), f = load(argv[2]);
    if (e.empty() || e.size() != f.size()) { std::cerr << "texts differ\n"; return 1; }
    std::map<std::string, std::map<std::string, double>> t;
    for (size_t i = 0; i < e.size(); ++i) for (auto &a : e[i]) for (auto &b : f[i]) t[a][b] = 1.0;
    for (int it = 0; it < 10; ++it) {
        std::map<std::string, std::map<std::string, double>> c;
        for (size_t i = 0; i < e.size(); ++i)
            for (auto &b : f[i]) {
                double z = 0;
                for (auto &a : e[i]) z += t[a][b];
                for (auto &a : e[i]) c[a][b] += t[a][b] / z;
            }
        for (auto &r : c) { double z = 0; for (auto &x : r.second) z += x.second; for (auto &x : r.second) t[r.first][x.first] = x.second / z; }
    }
    for (auto &r : t) for (auto &x : r.second) if (x.second > 0.3) std::cout << r.first << ' ' << x.first << ' ' << x.second << '\n';
}
