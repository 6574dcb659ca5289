#ifndef POLY_H
#define POLY_H
double legendre2(double x);
#endif
