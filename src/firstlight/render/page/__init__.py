"""The HTML page: its data."""
