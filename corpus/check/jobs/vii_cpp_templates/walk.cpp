#include <algorithm>
#include <array>
#include <iostream>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

namespace rw {
template <typename T, std::size_t D = 2>
struct Walker {
    std::array<T, D> x{};
    std::mt19937_64 gen;
    explicit Walker(unsigned s) : gen{s} {}
    void step() {
        std::uniform_int_distribution<int> d{0, static_cast<int>(D) - 1}, s{0, 1};
        x[d(gen)] += s(gen) ? T{1} : T{-1};
    }
};
}  // namespace rw

auto parse(int argc, char **argv) -> std::optional<unsigned> {
    if (argc < 2) return std::nullopt;
    return static_cast<unsigned>(std::stoul(argv[1]));
}

int main(int argc, char **argv) {
    auto w = std::make_unique<rw::Walker<int>>(parse(argc, argv).value_or(7u));
    std::map<std::string, int> seen;
    for (int i = 0; i < 1000; ++i) {
        w->step();
        auto [it, fresh] = seen.try_emplace(std::to_string(w->x[0]) + "," + std::to_string(w->x[1]), 0);
        ++it->second;
        (void)fresh;
    }
    std::vector<int> v;
    std::transform(seen.begin(), seen.end(), std::back_inserter(v), [](const auto &p) { return p.second; });
    std::cout << R"(visits: )" << *std::max_element(v.begin(), v.end()) << '\n';
}
