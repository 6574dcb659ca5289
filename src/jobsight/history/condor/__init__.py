"""HTCondor: its tools, asked about its settings, its queue and its history."""
