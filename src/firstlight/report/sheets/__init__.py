"""Tables as people read them, each fit for a terminal, for Markdown, for CSV and for a page."""
