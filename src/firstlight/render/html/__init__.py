"""Tables as HTML."""
