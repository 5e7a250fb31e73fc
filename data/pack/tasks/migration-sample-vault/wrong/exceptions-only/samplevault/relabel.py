"""New labels for samples."""


def rename(vault, old: str, new: str) -> None:
    """Give a sample a new label."""
    if old == new:
        return
    with vault.batch():
        vault.add(new, vault.remove(old))


def split(vault, label: str, parts: list) -> int:
    """Divide a sample into (label, grams) parts; gives the grams that are lost by it.

    The parts can't weigh more than the sample (ValueError).
    """
    with vault.batch():
        left = vault.remove(label)
        for part, grams in parts:
            vault.add(part, grams)
            left -= grams
        if left < 0:
            raise ValueError(f"the parts weigh more than {label}")
    return left
