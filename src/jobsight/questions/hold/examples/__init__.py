"""What is known of held jobs as of a moment, and what became of them."""
