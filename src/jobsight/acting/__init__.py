"""What acts through the schedulers: off by default, bounded, written down, and stopped at once."""
