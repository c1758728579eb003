"""Experiments: a plan, its boots and what they show."""
