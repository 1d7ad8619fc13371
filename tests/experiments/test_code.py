"""What a unit of work depends on: the code that it calls, not what is said of its result."""

import pytest

from experiments import _code

MODULE = '''"""An experiment."""
from experiments import _whole
from experiments._helper import half
LIMIT = 3.0  # of what
OTHER = 1


class Kind:
    size = LIMIT


def unit(x):
    """What is computed."""
    return half(Kind().size * x) + _whole.third(x)


def run(options):
    return f"a note {OTHER}"
'''
HELPER = "STEP = 2\n\n\ndef half(x):\n    return x / STEP\n\n\ndef unused():\n    return 1\n"
WHOLE = "def third(x):\n    return x / 3\n"


@pytest.fixture
def digest(tmp_path, monkeypatch):
    """The digest of `unit` where these are the sources of its modules."""

    def found(module=MODULE, helper=HELPER, whole=WHOLE):
        for cached in (_code._names, _code._lines, _code.function, _code.package):
            cached.cache_clear()
        folder = tmp_path / "experiments"
        folder.mkdir(exist_ok=True)
        sources = {"one": module, "_helper": helper, "_whole": whole}
        for name, text in sources.items():
            (folder / f"{name}.py").write_text(text, "utf-8")
        return _code.function(unit)

    def unit(x):
        """Only its name counts here."""

    unit.__module__, unit.__qualname__ = "experiments.one", "unit"
    monkeypatch.setattr(_code, "ROOT", tmp_path)
    yield found
    for cached in (_code._names, _code._lines, _code.function, _code.package):
        cached.cache_clear()


@pytest.mark.parametrize(
    ("part", "before", "after"),
    [
        ("module", "a note", "another note"),
        ("module", "OTHER = 1", "OTHER = 2"),
        ("module", "What is computed.", "What one sees."),
        ("module", "def run", "# of what\n\ndef run"),
        ("helper", "return 1", "return 2"),
    ],
)
def test_what_is_said_does_not_count(digest, part, before, after):
    source = {"module": MODULE, "helper": HELPER}[part]
    assert before in source
    assert digest() == digest(**{part: source.replace(before, after)})


@pytest.mark.parametrize(
    ("part", "before", "after"),
    [
        ("module", "half(Kind().size * x)", "half(Kind().size + x)"),
        ("module", "LIMIT = 3.0", "LIMIT = 4.0"),
        ("module", "size = LIMIT", "size = 1 + LIMIT"),
        ("helper", "STEP = 2", "STEP = 4"),
        ("helper", "x / STEP", "x // STEP"),
        ("whole", "x / 3", "x / 4"),
    ],
)
def test_what_is_computed_counts(digest, part, before, after):
    source = {"module": MODULE, "helper": HELPER, "whole": WHOLE}[part]
    assert before in source
    assert digest() != digest(**{part: source.replace(before, after)})


def test_an_experiment_depends_on_what_it_imports(digest, tmp_path):
    def experiment(**sources):
        digest(**sources)
        return _code.experiment("one")

    first = experiment()
    assert experiment(helper=HELPER + "# more\n") == first
    assert experiment(helper=HELPER.replace("STEP = 2", "STEP = 4")) != first
    (tmp_path / "experiments" / "_other.py").write_text("x = 1\n", "utf-8")
    assert experiment() == first  # nobody imports it
    deeper = "from experiments._other import x\n" + HELPER
    before = experiment(helper=deeper)
    (tmp_path / "experiments" / "_other.py").write_text("x = 2\n", "utf-8")
    assert experiment(helper=deeper) != before


def test_how_results_are_told_does_not_count(digest, tmp_path):
    (tmp_path / "experiments").mkdir()
    told = "from experiments._report import Report\n" + MODULE
    (tmp_path / "experiments" / "_report.py").write_text("class Report:\n    x = 1\n", "utf-8")
    digest(module=told)
    first = _code.experiment("one")
    (tmp_path / "experiments" / "_report.py").write_text("class Report:\n    x = 2\n", "utf-8")
    digest(module=told)
    assert _code.experiment("one") == first


def test_the_package_without_what_only_shows(digest, tmp_path):
    def package(**sources):
        for name, text in sources.items():
            path = tmp_path / "sparsebayes" / f"{name}.py"
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, "utf-8")
        digest()
        return _code.package()

    first = package(model="x = 1\n", plots="y = 1\n")
    assert package(plots="y = 2\n") == first
    assert package(model="# why\nx = 1\n") == first
    assert package(model="x = 2\n") != first
