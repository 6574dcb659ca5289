#include <iostream>
#include <vector>
#include "mesh.h"

int main()
{
    Mesh m{3, 4};
    std::cout << m.nx * m.ny << '\n';
}
