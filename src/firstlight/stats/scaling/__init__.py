"""How a cost grows with a quantity: fitted models, their exponents and crossovers."""
