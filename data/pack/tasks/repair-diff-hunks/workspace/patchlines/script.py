"""Edit scripts: how to get from one list of lines to another."""

KEEP, DROP, PUT = " ", "-", "+"

Script = list[tuple[str, str]]


def edit_script(old: list[str], new: list[str]) -> Script:
    """A shortest script; among equals, lines are dropped before others are put."""
    width = len(new) + 1
    common = [[0] * width for _ in range(len(old) + 1)]
    for i in reversed(range(len(old))):
        for j in reversed(range(len(new))):
            if old[i] == new[j]:
                common[i][j] = common[i + 1][j + 1] + 1
            else:
                common[i][j] = max(common[i + 1][j], common[i][j + 1])
    script: Script = []
    i = j = 0
    while i < len(old) or j < len(new):
        if i < len(old) and j < len(new) and old[i] == new[j]:
            script.append((KEEP, old[i]))
            i, j = i + 1, j + 1
        elif i < len(old) and (j == len(new) or common[i + 1][j] >= common[i][j + 1]):
            script.append((DROP, old[i]))
            i += 1
        else:
            script.append((PUT, new[j]))
            j += 1
    return script
