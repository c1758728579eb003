"""Comparing boots that are never the same twice: estimate, interval, test and verdict."""
