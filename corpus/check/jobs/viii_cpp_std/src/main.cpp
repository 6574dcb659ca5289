#include <algorithm>
#include <iostream>
#include <iterator>
#include <string_view>
#include <thread>
#include "hist.hpp"
using namespace std::literals;
int main(int argc, char **argv) {
    int n = 10;
    for (int i = 1; i < argc; ++i)
        if (std::string_view a{argv[i]}; a.starts_with("--bins="sv)) n = std::stoi(std::string(a.substr(7)));
    std::vector<double> xs{std::istream_iterator<double>(std::cin), {}};
    std::jthread t([&] { for (int c : bins<double>(xs, n, 10.)) std::cout << c << ' '; });
}
