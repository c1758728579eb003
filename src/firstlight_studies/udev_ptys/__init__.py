"""What legacy pseudo-terminals, and other devices made ahead of need, cost udev."""
