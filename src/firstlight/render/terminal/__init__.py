"""Printing to a terminal: width, colour, columns."""
