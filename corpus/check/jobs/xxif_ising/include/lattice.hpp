#pragma once
#include <vector>

class Lattice {
public:
    explicit Lattice(int n) : n_(n), s_(n * n, 1) {}
    int &operator()(int i, int j) { return s_[wrap(i) * n_ + wrap(j)]; }
    int neighbours(int i, int j) {
        return (*this)(i + 1, j) + (*this)(i - 1, j) + (*this)(i, j + 1) + (*this)(i, j - 1);
    }
    double magnetisation() const {
        long m = 0;
        for (int v : s_) m += v;
        return static_cast<double>(m) / s_.size();
    }

private:
    int wrap(int i) const { return (i + n_) % n_; }
    int n_;
    std::vector<int> s_;
};
