"""Acting through Slurm: comments of jobs, hooks at submission, profiles, and the placement policy."""
