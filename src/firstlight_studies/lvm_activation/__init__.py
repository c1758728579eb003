"""LVM activation (2021, again): how the time until the last volume is active grows with the physical volumes."""
