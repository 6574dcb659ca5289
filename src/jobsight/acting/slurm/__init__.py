"""Acting through Slurm: comments of jobs, hooks of submissions and nodes, the placement policy."""
