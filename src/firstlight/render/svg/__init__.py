"""Pictures of a boot as SVG, made without a browser."""
