"""What the emulated machine adds to a boot: known costs as data, and how much of each a boot has."""
