"""How a boot is shown: in the terminal and as a page."""
