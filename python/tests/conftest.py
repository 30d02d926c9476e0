"""What several tests start from."""

import subprocess

import pytest


@pytest.fixture
def repository(tmp_path, monkeypatch):
    """An empty git repository in a home directory of its own, as the working directory."""
    home = tmp_path / "home"
    root = home / "project"
    root.mkdir(parents=True)
    monkeypatch.setenv("HOME", str(home))
    for name in ("XDG_STATE_HOME", "XDG_CONFIG_HOME", "LICTOR_STATE_DIR"):
        monkeypatch.delenv(name, raising=False)
    subprocess.run(["git", "init", "-q"], cwd=root, check=True)
    monkeypatch.chdir(root)
    return root
