#include <stdio.h>
#include "stats.h"
enum { MAX = 1 << 10 };
int main(void)
{
	static double x[MAX];
	size_t n = 0;
	while (n < MAX && scanf("%lf", &x[n]) == 1) n++;
	printf("%zu %.3f %.3f\n", n, mean(x, n), sd(x, n));
	return n < 2;
}
