"""Boot times over commits, and where they changed."""
