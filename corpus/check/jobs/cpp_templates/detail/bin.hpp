#pragma once

template <typename T>
constexpr T bin(T value, T width) { return value / width * width; }
