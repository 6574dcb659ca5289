#include <stdio.h>
int values(void);
int main(void) { printf("%d\n", values()); return 0; }
