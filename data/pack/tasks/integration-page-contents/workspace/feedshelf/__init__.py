"""Print the contents of paged catalogues."""
