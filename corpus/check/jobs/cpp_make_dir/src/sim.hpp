#pragma once
#include <vector>
inline double total(const std::vector<double>& v) { double s = 0; for (double x : v) s += x; return s; }
