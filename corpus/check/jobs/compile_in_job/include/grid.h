#ifndef GRID_H
#define GRID_H
#define NMAX 1024
#endif
