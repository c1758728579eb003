"""Exports of a bundle to the formats of other tools."""
