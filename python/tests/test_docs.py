"""Every sample of docs/python.md runs."""

import re
from pathlib import Path

import pytest

PAGE = (Path(__file__).parents[2] / "docs/python.md").read_text()
SAMPLES = re.findall(r"^```python\n(.*?)^```", PAGE, re.S | re.M)


@pytest.mark.parametrize("sample", SAMPLES, ids=range(len(SAMPLES)))
def test_a_sample_runs(sample, repository):
    exec(compile(sample, "docs/python.md", "exec"), {"__name__": "sample"})


def test_there_are_samples():
    assert len(SAMPLES) >= 5
