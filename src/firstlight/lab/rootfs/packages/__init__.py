"""Which package a file of a root file system belongs to, by the system's own package database."""
