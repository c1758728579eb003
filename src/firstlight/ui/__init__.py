"""`firstlight ui`: a local browser over a folder of boots."""
