"""What a job is: how it is submitted, what it runs, and what will fail of it before it starts."""
