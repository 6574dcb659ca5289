C     fixed form, as in 1977
      PROGRAM OLD
      INTEGER I, S
      S = 0
      DO 10 I = 1, 10
        S = S + I
   10 CONTINUE
      WRITE (*,*) S
      END
