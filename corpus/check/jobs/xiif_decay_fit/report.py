REFERENCE = 2.197


def summary(tau, n0):
    dev = 100 * (tau - REFERENCE) / REFERENCE
    print "tau = %.3f us (%.1f %% off), N0 = %.0f" % (tau, dev, n0)
