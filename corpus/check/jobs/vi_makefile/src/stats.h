#ifndef STATS_H
#define STATS_H
#include <stddef.h>
double mean(const double *x, size_t n);
double sd(const double *x, size_t n);
#endif
