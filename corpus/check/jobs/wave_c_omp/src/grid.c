#include <stdlib.h>

#include "grid.h"

double *grid_new(int n) { return calloc((size_t)n, sizeof(double)); }
