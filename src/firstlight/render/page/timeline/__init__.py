"""The timeline of the report page: tracks of a boot, packed into lanes and written as binary columns."""
