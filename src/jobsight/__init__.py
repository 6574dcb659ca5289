"""Jobsight tells how a batch job will behave on HTCondor and Slurm clusters."""

__all__ = ["__version__"]

__version__ = "0.1.0"
