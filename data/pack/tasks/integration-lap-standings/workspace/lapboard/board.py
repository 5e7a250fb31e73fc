"""The lines on the board."""
from lapboard.ranking import rank
from lapboard.tally import tally_up
from lapboard.timing import parse_crossing


def board(lines: list[str]) -> list[str]:
    """Standings after some crossings."""
    tallies = tally_up(parse_crossing(line) for line in lines if line.strip())
    rows = []
    for place, tally in rank(tallies):
        laps = "lap" if tally.laps == 1 else "laps"
        minutes, seconds = divmod(tally.seconds, 60)
        rows.append(f"{place}. #{tally.bib} {tally.laps} {laps} {minutes:02d}:{seconds:02d}")
    return rows
