#include <algorithm>
#include <fstream>
#include <iostream>
#include <map>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

static std::vector<std::string> split(const std::string &line, char by)
{
    std::vector<std::string> fields;
    std::istringstream in(line);
    for (std::string field; std::getline(in, field, by);)
        fields.push_back(field);
    return fields;
}

int main(int argc, char **argv)
{
    int rounds = std::stoi(argv[2]);
    for (int r = 0; r < rounds; r++) {
        std::ifstream in(argv[1]);
        std::map<std::string, double> sums;
        std::string line;
        std::getline(in, line);
        while (std::getline(in, line)) {
            auto fields = split(line, ';');
            if (fields.size() < 4)
                continue;
            std::replace(fields[3].begin(), fields[3].end(), ',', '.');
            auto date = split(fields[1], '.');
            auto first = fields[2].find_first_not_of(' ');
            auto last = fields[2].find_last_not_of(' ');
            sums[date[1] + "/" + fields[2].substr(first, last - first + 1)] += std::stod(fields[3]);
        }
        std::ofstream out("sums.csv");
        for (auto &[key, sum] : sums)
            out << key << ',' << sum << '\n';
        std::cout << r << ' ' << sums.size() << '\n';
    }
}
