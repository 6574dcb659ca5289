from __future__ import print_function
import sys
import plfit

stars = plfit.read(sys.argv[1])
for gal, (a, b, n) in sorted(plfit.fit_all(stars).items()):
    print("%s slope %.3f zero %.3f n %d" % (gal, a, b, n))
