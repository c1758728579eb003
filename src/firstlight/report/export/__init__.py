"""A boot for other programs; one exporter per file. `docs/formats/exports.md` says what each writes."""
