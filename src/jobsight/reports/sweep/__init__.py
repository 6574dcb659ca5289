"""Reports of sweeps: many trainings of one question, side by side; they know no question."""
