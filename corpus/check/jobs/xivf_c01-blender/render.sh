#!/bin/sh
# one pgm picture per frame
awk -v f="$1" 'BEGIN {
  print "P2"; print 32, 32; print 255
  for (y = 0; y < 32; y++) { for (x = 0; x < 32; x++) printf "%d ", (x * y + f * 9) % 256; print "" }
}' > frame_$1.pgm
