"""Records of other makers: a list with what each holds, and a score of what the importer reads from them."""
