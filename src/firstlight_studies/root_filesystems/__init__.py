"""Root file systems (about 2004, again): what the file system of the root decides, from power on to user space."""
