"""Event logs that grow: their files, one growing file, the position, and the source."""
