#include <cmath>
#include <fstream>
#include <iostream>
#include <map>
#include <vector>
int main(int argc, char **argv) {
    if (argc < 2) { std::cerr << "usage: gaincal FILE\n"; return 2; }
    std::ifstream in(argv[1]);
    if (!in) { std::cerr << "cannot open " << argv[1] << "\n"; return 1; }
    std::map<int, std::vector<double>> adc;
    int ch; double v;
    while (in >> ch >> v) adc[ch].push_back(v);
    for (const auto &kv : adc) {
        double m = 0, s = 0;
        for (double x : kv.second) m += x;
        m /= kv.second.size();
        for (double x : kv.second) s += (x - m) * (x - m);
        std::cout << kv.first << ' ' << m << ' ' << std::sqrt(s / kv.second.size()) << '\n';
    }
    return adc.empty() ? 1 : 0;
}
