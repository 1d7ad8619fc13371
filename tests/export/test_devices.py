"""Three compilers, one of them for microcontrollers, and a thousand inputs (slow).

Debian's packages: gcc, clang, gcc-arm-none-eabi, libnewlib-arm-none-eabi, qemu-system-arm.
"""

import shutil
from pathlib import Path

import pytest

from sparsebayes import RVR
from sparsebayes.basis import RBF
from sparsebayes.datasets import load_sensor
from sparsebayes.export.c.compiled import FLAGS, run_c
from sparsebayes.export.programs.differences import largest_difference
from tests.export.test_c import COARSE, asked
from tests.export.zoo import MODELS

ARM = "arm-none-eabi-gcc"
CORTEX = ["-mthumb", "--specs=rdimon.specs"]  # files and exit through the emulator
START = [str(Path(__file__).with_name("cortex_m.c")), "-Wl,--section-start=.vectors=0"]
BOARD = ["qemu-system-arm", "-M", "mps2-an385", "-nographic", "-semihosting", "-kernel"]
TOOLS = {
    "gcc": {"compiler": ["gcc"], "flags": FLAGS},
    "clang": {"compiler": ["clang"], "flags": FLAGS},
    "cortex-m3": {
        "compiler": [ARM],
        "flags": [*FLAGS, "-mcpu=cortex-m3", *CORTEX],
        "link": START,
        "runner": BOARD,
    },
    "cortex-m0": {
        "compiler": [ARM],
        "flags": [*FLAGS, "-Os", "-mcpu=cortex-m0", *CORTEX],
        "link": START,
        "runner": BOARD,
    },
}

pytestmark = pytest.mark.slow


def tools(name):
    """Compiler, flags and what runs the program; or the test is skipped."""
    found = TOOLS[name]
    for tool in [found["compiler"][0], *found.get("runner", [])[:1]]:
        if shutil.which(tool) is None:
            pytest.skip(f"{tool} is not installed")
    return found


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
    fitted = RVR(RBF(24.0)).fit(data.data, data.target)
    assert len(fitted.relevance_) >= 10
    found, size = run_c(fitted, data.data, dtype="float", **tools("cortex-m0"))
    assert len(found["mean"]) == 150
    assert 0 < size < 2000
