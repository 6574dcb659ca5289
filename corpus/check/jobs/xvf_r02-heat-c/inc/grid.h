#ifndef GRID_H
#define GRID_H
#define NX 64
void relax(double *u);
#endif
