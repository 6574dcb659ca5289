#include <stdio.h>
#include "config.h"
#include "poly.h"

int main(void)
{
    for (int i = 0; i < NPTS; i++) {
        double x = -1.0 + 2.0 * i / (NPTS - 1);
        printf("%6.3f %9.5f\n", x, legendre2(x));
    }
    return 0;
}
