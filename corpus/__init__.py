"""Sets of our own that judge what Jobsight says."""
