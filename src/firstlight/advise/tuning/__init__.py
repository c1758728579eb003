"""Tuning: finds the remedies that make a boot faster together, and keeps the system healthy."""
