"""Run jobs."""
from taskweir.journal import Journal
from taskweir.planner import plan


def execute(jobs: list, actions: dict):
    """Run the jobs; gives the journal."""
    steps = plan(jobs)
    for step in steps:
        if step.name not in actions:
            raise ValueError(f"no action for {step.name}")
    journal = Journal()
    causes = {}
    for step in steps:
        blame = set().union(*(causes[need] for need in step.needs))
        causes[step.name] = blame
        if blame:
            journal.record(step.name, "skipped", ", ".join(sorted(blame)))
        elif not _attempt(step, actions[step.name], journal):
            blame.add(step.name)
    return journal


def _attempt(step, action, journal) -> bool:
    for left in range(step.retries, -1, -1):
        try:
            action()
        except Exception as error:
            journal.record(step.name, "retry" if left else "failed", str(error))
        else:
            journal.record(step.name, "done")
            return True
    return False
