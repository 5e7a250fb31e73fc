"""Time sheets."""
from shiftledger.clock import parse_shift
from shiftledger.ledger import Ledger
from shiftledger.night import night_minutes
from shiftledger.splitter import split


def timesheet(lines: list[str]) -> list[str]:
    """A line for each person and day, in order of both."""
    ledger = Ledger()
    for line in lines:
        for segment in split(parse_shift(line)):
            ledger.add(segment)
    sheet = []
    for person, day in ledger.keys():
        spans = ledger.spans(person, day)
        total = sum(end - start for start, end in spans)
        night = sum(night_minutes(start, end) for start, end in spans)
        sheet.append(f"{person} {day.isoformat()}: {total} min, {night} at night")
    return sheet
