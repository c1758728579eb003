"""How a cost grows with a quantity: fitted forms, their exponents and crossovers."""
