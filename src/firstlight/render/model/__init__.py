"""The table that every renderer takes."""
