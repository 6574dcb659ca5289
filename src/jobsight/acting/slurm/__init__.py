"""Acting through Slurm: what its plugins and hooks need, for the site's own configuration."""
