#include <stdio.h>
int main(void) { puts("t=0"); return 0; }
