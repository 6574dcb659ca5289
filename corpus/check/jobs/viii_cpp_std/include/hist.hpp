#pragma once
#include <span>
#include <vector>
template <typename T>
concept Number = requires(T a) { a + a; };
template <Number T> std::vector<int> bins(std::span<const T> xs, int n, T top) {
    std::vector<int> out(n);
    for (T x : xs) ++out[std::min<int>(n - 1, x / top * n)];
    return out;
}
