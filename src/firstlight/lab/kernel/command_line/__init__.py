"""The kernel command line: its parameters, and who reads each."""
