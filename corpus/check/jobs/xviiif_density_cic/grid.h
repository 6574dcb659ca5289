#pragma once
#include <cstddef>
// mesh of the production runs (test box: 128)
constexpr std::size_t NG  = 1400;
constexpr double      BOX = 500.0;   // Mpc/h
inline std::size_t cell(std::size_t i, std::size_t j, std::size_t k)
{
    return (i * NG + j) * NG + k;
}
