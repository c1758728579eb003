"""The one typed recipe of a boot: what was chosen, what came of it, and the digest that names it."""
