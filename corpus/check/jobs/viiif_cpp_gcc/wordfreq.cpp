#include <iostream>
#include <map>
#include <string>

int main()
{
    std::map<std::string, int> freq;
    for (std::string w; std::cin >> w;) ++freq[w];
    for (const auto &[w, n] : freq) std::cout << n << ' ' << w << '\n';
}
