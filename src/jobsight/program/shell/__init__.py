"""What a shell script does: its syntax tree walked into commands, with what is known of each."""
