"""Comparisons of boots that vary."""
