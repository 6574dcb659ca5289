"""What `jobsight.history.follow` is made of: one growing file, its pieces, and the position."""
