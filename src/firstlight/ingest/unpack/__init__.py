"""Archives and compressed files, read within limits, also where they are damaged."""
