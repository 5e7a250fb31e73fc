"""What is agreed: models, table schemas, digests, limits and errors. Imports no other room."""
