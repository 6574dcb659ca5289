#include "stats.h"
#include <math.h>
double mean(const double *x, size_t n) { double s = 0; for (size_t i = 0; i < n; ++i) s += x[i]; return s / n; }
double sd(const double *x, size_t n)
{
	double m = mean(x, n), s = 0;
	for (size_t i = 0; i < n; ++i) s += (x[i] - m) * (x[i] - m);
	return sqrt(s / (n - 1));
}
