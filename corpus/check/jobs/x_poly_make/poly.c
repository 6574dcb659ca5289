#include <math.h>
#include "poly.h"

double legendre2(double x) { return 0.5 * (3.0 * pow(x, 2.0) - 1.0); }
