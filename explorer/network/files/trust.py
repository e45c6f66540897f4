"""Remember which code a person has trusted, by the SHA-256 of its bytes: another content is another question.

The file is `trusted.json` in EQUISCOPE_CONFIG, or in `equiscope` of the system's folder for settings. One that is
broken counts as empty: the person is asked again. Only the window reads it; the command line needs --trust each time.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from explorer.network.files.looking import code_in
from explorer.state.session import write_beside
from explorer.work.places import settings_folder

NAME = "trusted.json"
VERSION = 1
MOST = 2000  # contents; the oldest are forgotten
LARGEST = 4 * 2**20  # bytes


@dataclass(slots=True)
class Trust:
    """Say which files may be executed.

    Attributes:
        everything: every file that is named, as with --trust.
        contents: SHA-256 of what may.
        followed: files that may whatever they hold, because the person is writing them; never remembered.
    """

    everything: bool = False
    contents: set[str] = field(default_factory=set)
    followed: set[Path] = field(default_factory=set)

    def allows(self, path: Path) -> bool:
        """Return whether a file may be executed: it and all that it imports from its folder are trusted."""
        if self.everything or path.resolve() in self.followed:
            return True
        code = code_in(path)
        return bool(code) and not self.missing(code)

    def missing(self, code: Iterable[tuple[str, str]]) -> tuple[str, ...]:
        """Return the files, of (path, sha256) pairs, whose content is not trusted."""
        return tuple(path for path, digest in code if not self.everything and digest not in self.contents)


def remembered() -> dict[str, str]:
    """Return {sha256: name of the file} of what was trusted, the oldest first."""
    try:
        with (settings_folder() / NAME).open("rb") as file:
            data = file.read(LARGEST + 1)
        whole = json.loads(data) if len(data) <= LARGEST else None
    except (OSError, ValueError, RecursionError):
        return {}
    held = whole.get("sha256") if isinstance(whole, dict) and whole.get("equiscope_trust") == VERSION else None
    if not isinstance(held, dict):
        return {}
    digits = set("0123456789abcdef")
    return {k: v for k, v in held.items() if len(k) == 64 and set(k) <= digits and isinstance(v, str)}


def remember(code: Iterable[tuple[str, str]]) -> None:
    """Add the contents of files, (path, sha256) pairs, to what is trusted.

    Raises:
        OSError: the folder of settings cannot be written.
    """
    found = remembered()
    for path, digest in code:
        found.pop(digest, None)  # to the end
        found[digest] = Path(path).name
    kept = dict(list(found.items())[-MOST:])
    folder = settings_folder()
    folder.mkdir(parents=True, exist_ok=True)
    whole = {"equiscope_trust": VERSION, "sha256": kept}
    write_beside(folder / NAME, (json.dumps(whole, indent=1, ensure_ascii=False) + "\n").encode())
