"""Remember which code a person has trusted, by the SHA-256 of its bytes: another content is another question.

The file is `trusted.json` in EQUISCOPE_CONFIG, or in `equiscope` of the system's folder for settings. What of it is
broken counts as not there: the person is told so, and asked again. Beside it the texts of trusted Python files are
kept, so that an edit can be shown against what was read then. Only the window reads it; the command line needs --trust
each time.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path

from explorer.declare.states.model_name import code_of
from explorer.network.opening.files.looking import code_in
from explorer.work.files.places import at_home, settings_folder
from explorer.work.files.replacing import keep_aside, write_whole

NAME = "trusted.json"
VERSION = 1
MOST = 2000  # contents; the oldest are forgotten
LARGEST = 4 * 2**20  # bytes
TEXTS = "trusted"  # folder of the texts of Python files, by their SHA-256
LARGEST_TEXT = 2**20  # bytes
DIGITS = frozenset("0123456789abcdef")


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

    @classmethod
    def of(cls, names: Iterable[str]) -> Trust:
        """Return the trust in the files of these networks, whatever they hold later, and in no others."""
        names = tuple(names)
        contents = {digest for _, digest in code_of_models(names)}
        return cls(contents=contents, followed={at_home(file).resolve() for name in names if (file := code_of(name))})

    def allows(self, path: Path) -> bool:
        """Return whether a file may be executed: it and all that it imports from its folder are trusted."""
        if self.everything or path.resolve() in self.followed:
            return True
        code = code_in(path)
        return bool(code) and not self.missing(code)

    def asks(self, names: Iterable[str]) -> bool:
        """Return whether any of these networks is of a file that does not run again, saved anew, without a question."""
        files = [at_home(file).resolve() for name in names if (file := code_of(name)) is not None]
        return not self.everything and any(file not in self.followed for file in files)

    def missing(self, code: Iterable[tuple[str, str]]) -> tuple[str, ...]:
        """Return the files, of (path, sha256) pairs, whose content is not trusted."""
        return tuple(path for path, digest in code if not self.everything and digest not in self.contents)


@dataclass(frozen=True, slots=True)
class Trusted:
    """A content that a person has allowed to run: its file's name, folder and time (ISO 8601; "" if not known)."""

    digest: str
    name: str
    path: str = ""
    when: str = ""


def remembered() -> dict[str, str]:
    """Return {sha256: name of the file} of what was trusted, the oldest first."""
    return {one.digest: one.name for one in listed()}


def code_of_models(names: Iterable[str]) -> tuple[tuple[str, str], ...]:
    """Return (path, sha256) of the files that would be executed for models of these names, as they are now."""
    files = [at_home(file).resolve() for name in names if (file := code_of(name)) is not None]
    return tuple(pair for file in files if file.exists() for pair in code_in(file))


def _stored() -> dict[str, object] | None:
    """Return what the file holds, {} where there is none, None where it cannot be read."""
    try:
        with (settings_folder() / NAME).open("rb") as file:
            data = file.read(LARGEST + 1)
        whole = json.loads(data) if len(data) <= LARGEST else None
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, RecursionError):
        return None
    return whole if isinstance(whole, dict) and whole.get("equiscope_trust") == VERSION else None


def damage() -> str:
    """Return in a sentence what is wrong with the file, "" where nothing is."""
    whole = _stored()
    held = whole.get("sha256", {}) if whole is not None else None
    if isinstance(held, dict) and len(listed()) == len(held):
        return ""
    return (
        f"The list of trusted files in {settings_folder() / NAME} is damaged: you are asked again about what is lost."
    )


def listed() -> tuple[Trusted, ...]:
    """Return what was trusted, the oldest first."""
    whole = _stored() or {}
    held, places = whole.get("sha256"), whole.get("places")
    places = places if isinstance(places, dict) else {}
    found = []
    for digest, name in held.items() if isinstance(held, dict) else ():
        if len(digest) == 64 and set(digest) <= DIGITS and isinstance(name, str):
            place = places.get(digest)
            if not (isinstance(place, list) and len(place) == 2 and all(isinstance(word, str) for word in place)):
                place = ["", ""]
            found.append(Trusted(digest, name, place[0], place[1]))
    return tuple(found)


def remember(code: Iterable[tuple[str, str]]) -> None:
    """Add the contents of files, (path, sha256) pairs, to what is trusted; texts are kept to compare edits with.

    Raises:
        OSError: the folder of settings cannot be written.
    """
    found = {one.digest: one for one in listed()}
    now = datetime.now(UTC).isoformat(timespec="seconds")
    for path, digest in code:
        found.pop(digest, None)  # to the end
        found[digest] = Trusted(digest, Path(path).name, str(Path(path).resolve()), now)
        _keep_text(Path(path), digest)
    _write(list(found.values())[-MOST:])


def revoke(digests: Collection[str]) -> None:
    """Take contents out of what is trusted.

    Raises:
        OSError: the folder of settings cannot be written.
    """
    _write([one for one in listed() if one.digest not in digests])


def text_of(digest: str) -> str | None:
    """Return the text of a Python file that was trusted, None where it was not kept."""
    try:
        data = (settings_folder() / TEXTS / digest).read_bytes()
        return data.decode() if sha256(data).hexdigest() == digest else None
    except (OSError, ValueError):
        return None


def _keep_text(path: Path, digest: str) -> None:
    try:
        data = path.read_bytes() if path.suffix == ".py" and path.stat().st_size <= LARGEST_TEXT else b""
    except OSError:
        return  # an edit can then not be shown
    if data and sha256(data).hexdigest() == digest:
        folder = settings_folder() / TEXTS
        folder.mkdir(parents=True, exist_ok=True)
        write_whole(folder / digest, data)


def _write(some: Sequence[Trusted]) -> None:
    folder = settings_folder()
    folder.mkdir(parents=True, exist_ok=True)
    if damage():
        keep_aside(folder / NAME)
    names = {one.digest: one.name for one in some}
    places = {one.digest: [one.path, one.when] for one in some if one.path}
    whole = {"equiscope_trust": VERSION, "sha256": names, "places": places}
    write_whole(folder / NAME, (json.dumps(whole, indent=1, ensure_ascii=False) + "\n").encode())
    for text in (folder / TEXTS).iterdir() if (folder / TEXTS).is_dir() else ():
        if text.name not in names:
            text.unlink(missing_ok=True)
