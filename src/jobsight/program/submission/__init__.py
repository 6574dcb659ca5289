"""What is submitted: batch scripts, submit files, DAG files. Parsers without I/O."""
