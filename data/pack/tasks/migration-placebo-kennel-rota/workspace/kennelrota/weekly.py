"""The sheet on the kennel's door."""
from kennelrota import rota as rotas


def sheet(rota, walkers: list) -> list:
    """A (walker, walks, dogs) row for each walker, dogs joined by commas."""
    return [(walker, rotas.walks_of(rota, walker), ", ".join(rotas.dogs_of(rota, walker))) for walker in walkers]


def total_minutes(rota, walkers: list) -> int:
    """The minutes of all walkers together."""
    return sum(rotas.minutes(rota, walker) for walker in walkers)
