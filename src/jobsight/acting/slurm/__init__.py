"""Acting through Slurm."""
