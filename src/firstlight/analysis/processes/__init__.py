"""Processes: what they ran and cost, their system calls, and the files they used."""
