#pragma once
struct Mesh { int nx, ny; };
