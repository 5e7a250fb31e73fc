from kennelrota import fairness, weekly
from kennelrota.rota import Rota


def make_rota():
    rota = Rota()
    rota.plan("ann", "Rex", 30)
    rota.plan("ann", "Fly", 20)
    rota.plan("bo", "Rex", 25)
    return rota


def test_rota():
    rota = make_rota()
    assert rota.walks("ann") == 2
    assert rota.dogs("ann") == ["Fly", "Rex"]


def test_sheet():
    assert weekly.sheet(make_rota(), ["bo", "ann"]) == [("bo", 1, "Rex"), ("ann", 2, "Fly, Rex")]


def test_total_minutes():
    assert weekly.total_minutes(make_rota(), ["ann", "bo"]) == 75


def test_gap():
    assert fairness.gap(make_rota(), ["ann", "bo"]) == 25


def test_idle():
    assert fairness.idle(make_rota(), ["cy", "bo"]) == ["cy"]
