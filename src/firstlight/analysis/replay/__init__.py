"""A boot replayed with less work: what its threads did, who waited for whom, and one processor that runs them again."""
