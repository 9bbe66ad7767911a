"""A home and a project with sample configurations of every client, laid out as they are on this platform."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

SAMPLES = Path(__file__).parent / "samples"
SERVER = SAMPLES / "server.py"
SECRETS = (
    "ghp_sampleSample1234567890sampleSample00",
    "sample-password",
    "sample-key-0815",
    "sample-bearer-4711",
)
"""What stands in clear in the samples and must be seen nowhere else."""


def lay_out(home: Path, project: Path) -> None:
    for source, target in ((SAMPLES / "home", home), (SAMPLES / "project", project)):
        for sample in sorted(source.rglob("*")):
            if sample.is_file():
                place = target / _on_this_platform(sample.relative_to(source))
                place.parent.mkdir(parents=True, exist_ok=True)
                place.write_text(filled(sample.read_text(), project))
    shutil.copy(SERVER, project / "server.py")


def filled(text: str, project: Path) -> str:
    """A sample with this machine's Python, the sample server and the project's folder in it."""
    for mark, value in (("@PYTHON@", sys.executable), ("@SERVER@", SERVER), ("@PROJECT@", project)):
        text = text.replace(mark, str(value))
    return text


def _on_this_platform(path: Path) -> Path:
    if sys.platform == "darwin" and path.parts[:2] in ((".config", "Claude"), (".config", "Code")):
        return Path("Library", "Application Support", *path.parts[1:])
    return path
