#!/bin/sh
awk "{ printf \"%s \", \$0; for (i = 0; i < 10 * \$NF; i++) printf \"#\"; print \"\" }" fit_1990.txt fit_2000.txt
