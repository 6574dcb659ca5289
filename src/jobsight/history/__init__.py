"""What happened: event logs, timelines, frames, outcomes."""
