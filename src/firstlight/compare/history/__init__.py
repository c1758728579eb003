"""How long boots took, one change after another."""
