"""A boot in the terminal: aligned tables that fit its width, colour only where there is a terminal."""
