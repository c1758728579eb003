"""What the tables of a boot say."""
