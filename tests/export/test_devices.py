"""Three compilers, one of them for a microcontroller, and a thousand inputs (slow)."""

import shutil

import pytest

from sparsebayes import RVR
from sparsebayes.basis import RBF
from sparsebayes.datasets import load_sensor
from sparsebayes.export.compiled import FLAGS, largest_difference, run_c
from tests.export.test_c import COARSE, asked
from tests.export.zoo import MODELS

ARM = "arm-none-eabi-gcc"
CORTEX_M3 = ["-mcpu=cortex-m3", "-mthumb", "--specs=rdimon.specs"]
TOOLS = {
    "gcc": (["gcc"], FLAGS, []),
    "clang": (["clang"], FLAGS, []),
    "arm": ([ARM], [*FLAGS, *CORTEX_M3], ["qemu-arm", "-cpu", "cortex-m3"]),
}

pytestmark = pytest.mark.slow


def tools(name):
    """Compiler, flags and what runs the program; or the test is skipped."""
    compiler, flags, runner = TOOLS[name]
    for tool in [compiler[0], *runner[:1]]:
        if shutil.which(tool) is None:
            pytest.skip(f"{tool} is not installed")
    return {"compiler": compiler, "flags": flags, "runner": runner}


@pytest.mark.parametrize("tool", TOOLS)
@pytest.mark.parametrize("name", MODELS)
def test_a_thousand_inputs(name, tool):
    fitted, X, right = asked(name, 1000)
    found, _ = run_c(fitted, X, **tools(tool))
    assert largest_difference(found, right) < 1e-10


@pytest.mark.parametrize("tool", TOOLS)
@pytest.mark.parametrize("name", sorted(MODELS.keys() - COARSE))
def test_a_thousand_inputs_in_single_precision(name, tool):
    fitted, X, right = asked(name, 1000, "float")
    found, _ = run_c(fitted, X, dtype="float", **tools(tool))
    assert largest_difference(found, right) < 1e-3


def test_ten_functions_on_a_cortex_m0():
    data = load_sensor()
    fitted = RVR(RBF(27.0), calibrate=None).fit(data.data, data.target)
    assert len(fitted.relevance_) >= 10
    found, size = run_c(
        fitted, data.data, dtype="float", **tools("arm") | {
            "flags": [*FLAGS, "-Os", "-mcpu=cortex-m0", "-mthumb", "--specs=rdimon.specs"],
            "runner": ["qemu-arm", "-cpu", "cortex-m3"],
        },
    )  # fmt: skip
    assert len(found["mean"]) == 150
    assert 0 < size < 2000
