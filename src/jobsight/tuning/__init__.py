"""Tuning: many trainings from one config, with Optuna, on this machine, Slurm or HTCondor."""
