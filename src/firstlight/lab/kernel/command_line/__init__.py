"""The kernel command line: its parameters, and the reader of each."""
