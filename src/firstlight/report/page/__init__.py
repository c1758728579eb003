"""The page in one HTML file: what it carries of a boot, a comparison, an experiment, a scaling or a study."""
