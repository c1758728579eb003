"""One run: options resolved to inputs, recorded, verified and repeated."""
