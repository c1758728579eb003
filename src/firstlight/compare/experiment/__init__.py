"""Experiments as data: arms or factors, booted in a directory that survives, and what each of them did."""
