#pragma once
#include <vector>
struct Grid { explicit Grid(int n); int n; std::vector<char> open; void fill(double p); int count() const; };
