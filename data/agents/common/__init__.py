"""What both repair agents share: reading a task, running visible tests, ranking and validating edits."""
