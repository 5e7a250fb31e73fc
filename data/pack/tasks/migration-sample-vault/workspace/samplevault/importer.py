"""Taking samples in from lists of rows."""


def load(vault, rows: list) -> int:
    """Add all (label, grams) rows or, if one of them is no good, none and raise; gives their number."""
    vault.begin()
    try:
        for label, grams in rows:
            vault.add(label, grams)
    except ValueError:
        vault.rollback()
        raise
    vault.commit()
    return len(rows)


def load_groups(vault, groups: dict) -> list:
    """Add groups of rows by name; a group with a bad row is left out as a whole.

    Gives the names of the groups that were left out, in their order.
    """
    bad = []
    for name, rows in groups.items():
        try:
            load(vault, [(f"{name}/{label}", grams) for label, grams in rows])
        except ValueError:
            bad.append(name)
    return bad
