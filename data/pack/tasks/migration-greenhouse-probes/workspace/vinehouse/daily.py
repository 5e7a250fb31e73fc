"""The daily report."""


def summary(bank) -> list:
    """One (name, latest, mean, state) row for each probe, in order of names."""
    rows = []
    for name in bank.list_all():
        state = "faulty" if bank.bad(name) else "ok"
        rows.append((name, bank.get_value(name), round(bank.avg_value(name), 1), state))
    return rows


def faulty_share(bank) -> float:
    """The share of the probes with readings that are faulty; 0.0 without probes."""
    names = bank.list_all()
    if not names:
        return 0.0
    return sum(1 for name in names if bank.bad(name)) / len(names)
