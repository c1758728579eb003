"""Results as Markdown, for a pull request or a note."""
