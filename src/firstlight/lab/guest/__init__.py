"""The guest as seen from the host: its report, its facts, and hints for a failed boot."""
