"""Sweeps: many trainings from one config; knows parameters and records, no question."""
