"""What tests of several rooms make their cases with."""
