"""Boots over growing quantities, and the form that their cost takes."""
