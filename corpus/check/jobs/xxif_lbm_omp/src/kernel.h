#ifndef KERNEL_H
#define KERNEL_H
double relax(double *restrict f, const double *restrict g, int nx, int ny, double nu);
#endif
