#ifndef GRID_H
#define GRID_H
double *grid_new(int n);
#endif
