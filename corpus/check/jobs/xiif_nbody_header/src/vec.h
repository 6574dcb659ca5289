#ifndef VEC_H
#define VEC_H
typedef struct { double x, y, z; } vec;
static inline double dot(vec a, vec b) { return a.x*b.x + a.y*b.y + a.z*b.z; }
#endif
