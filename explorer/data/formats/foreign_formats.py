"""Files of other programs that people bring: what each is, and how what is in it gets here."""

from __future__ import annotations

from pathlib import Path

from explorer.data.formats.checks import refusal

_SHEETS = ("it is a file of a spreadsheet program", "save the sheet as CSV there")
_PAGES = ("it is a document with pages", "save a picture of it as PNG, its text as TXT, or its table as CSV")
# what people bring that has a form of its own, and how it gets here
_WAYS = {
    **dict.fromkeys((".xlsx", ".xls", ".xlsm", ".ods", ".numbers"), _SHEETS),
    **dict.fromkeys((".pdf", ".docx", ".doc", ".odt", ".pptx", ".html", ".htm"), _PAGES),
    **dict.fromkeys((".zip", ".tar", ".gz", ".7z", ".rar"), ("it is an archive", "unpack it and open a file of it")),
    **dict.fromkeys((".mp3", ".m4a", ".aac", ".wma"), ("its sound is packed in a way not read here", "save it as WAV")),
    **dict.fromkeys((".mp4", ".mov", ".avi", ".mkv", ".webm"), ("it is a film", "save one picture of it as PNG")),
    **dict.fromkeys((".heic", ".heif", ".svg", ".psd", ".eps"), ("it is a picture of another kind", "save it as PNG")),
    **dict.fromkeys((".mat", ".h5", ".hdf5", ".parquet"), ("it is a store of arrays", "save an array of it as NPY")),
}


def refuse_other(path: Path) -> None:
    """Refuse a file of another program by its ending, in a sentence that says what to do; one not known passes.

    Raises:
        ReadError: it is one.
    """
    if (way := _WAYS.get(path.suffix.lower())) is not None:
        raise refusal(path, *way)
