"""When will it start, and how long will it run? Jobs that wait, and scripts not yet submitted."""
