"""Remedies for values that users try."""

from sparsebayes._support.guesses.values import hint


def test_a_remedy_is_one_of_the_choices():
    told = "; use method='reversible_jump'"
    assert hint("method", "rjmcmc") == told
    assert hint("method", "RJMCMC", ("gibbs", "reversible_jump")) == told
    assert hint("method", "rjmcmc", ("taylor", "monte_carlo")) == ""  # another function's method


def test_what_is_not_known_has_no_remedy():
    assert hint("method", "no such method") == hint("no such name", 3) == ""
    assert hint("solver", int) == "; give an object, solver=int(...)"
