"""What will go wrong with a job, found in what is submitted before it runs."""
