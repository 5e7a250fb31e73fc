"""New labels for samples."""


def rename(vault, old: str, new: str) -> None:
    """Give a sample a new label."""
    if old == new:
        return
    vault.begin()
    try:
        vault.add(new, vault.remove(old))
    except (ValueError, LookupError):
        vault.rollback()
        raise
    vault.commit()


def split(vault, label: str, parts: list) -> int:
    """Divide a sample into (label, grams) parts; gives the grams that are lost by it.

    The parts can't weigh more than the sample (ValueError).
    """
    vault.begin()
    left = vault.remove(label)
    try:
        for part, grams in parts:
            vault.add(part, grams)
            left -= grams
    except ValueError:
        vault.rollback()
        raise
    if left < 0:
        vault.rollback()
        raise ValueError(f"the parts weigh more than {label}")
    vault.commit()
    return left
