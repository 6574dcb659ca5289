"""Jobs, sound and faulty, that judge `jobsight check`; see README.md here."""
