"""How results are shown: terminal, Markdown, HTML page, CI formats."""
