"""The names that a bundle stores, as the vocabulary has them."""
