"""How questions are answered: one session opens what is read, the models and what they learned."""
