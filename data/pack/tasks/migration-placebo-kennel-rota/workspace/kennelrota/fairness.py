"""Whether the work is shared well."""
from kennelrota import rota as rotas


def gap(rota, walkers: list) -> int:
    """Minutes between those who are out the longest and the shortest; 0 without walkers."""
    times = [rotas.minutes(rota, walker) for walker in walkers]
    return max(times) - min(times) if times else 0


def idle(rota, walkers: list) -> list:
    """The walkers without a walk, sorted."""
    return sorted(walker for walker in walkers if rotas.walks_of(rota, walker) == 0)
