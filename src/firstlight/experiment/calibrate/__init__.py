"""How much results vary without a real change."""
