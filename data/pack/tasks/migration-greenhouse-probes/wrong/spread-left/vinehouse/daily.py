"""The daily report."""


def summary(bank) -> list:
    """One (name, latest, mean, state) row for each probe, in order of names."""
    rows = []
    for name in bank.probe_names():
        state = "faulty" if bank.is_faulty(name) else "ok"
        rows.append((name, bank.latest(name), round(bank.mean(name), 1), state))
    return rows


def faulty_share(bank) -> float:
    """The share of the probes with readings that are faulty; 0.0 without probes."""
    names = bank.probe_names()
    if not names:
        return 0.0
    return sum(1 for name in names if bank.is_faulty(name)) / len(names)
