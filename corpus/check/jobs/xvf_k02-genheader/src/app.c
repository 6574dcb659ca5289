#include <stdio.h>
#include "app.h"
#include "version.h"

int main(void)
{
    printf("%s %s\n", APP_NAME, APP_VERSION);
    return 0;
}
