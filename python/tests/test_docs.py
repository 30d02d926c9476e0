"""Every sample of docs/python.md runs."""

import re
import subprocess
from pathlib import Path

import pytest

PAGE = (Path(__file__).parents[2] / "docs/python.md").read_text()
SAMPLES = re.findall(r"^```python\n(.*?)^```", PAGE, re.S | re.M)


@pytest.mark.parametrize("sample", SAMPLES, ids=range(len(SAMPLES)))
def test_a_sample_runs(sample, tmp_path, monkeypatch):
    root = tmp_path / "home/project"
    root.mkdir(parents=True)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    for name in ("XDG_STATE_HOME", "XDG_CONFIG_HOME", "LICTOR_STATE_DIR"):
        monkeypatch.delenv(name, raising=False)
    subprocess.run(["git", "init", "-q"], cwd=root, check=True)
    monkeypatch.chdir(root)
    exec(compile(sample, "docs/python.md", "exec"), {"__name__": "sample"})


def test_there_are_samples():
    assert len(SAMPLES) >= 5
