"""A boot bundle: its manifest, its tables, and what reads and writes them."""
