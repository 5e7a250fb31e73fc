"""From meter gateway exports to electricity bills."""
