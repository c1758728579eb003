"""Images of the laboratory: a kernel with what studies need, and user lands; each made once and kept."""
