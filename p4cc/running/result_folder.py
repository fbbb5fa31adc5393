"""A results folder: p4cc may remove what it wrote there, and nothing else.

The manifest lists every file that p4cc wrote, with its hash. A file that is not listed, or has changed since, is the
user's. New results are written to a temporary folder next to it and move in file by file, so that after a kill each
file is either old or new. A lock on the folder excludes a second call; it ends with its holder.
"""

from __future__ import annotations

import errno
import fcntl
import hashlib
import json
import os
import shutil
import tempfile
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, NoReturn, cast

from p4cc.errors import UserError
from p4cc.leftovers import left_until_done

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable

MANIFEST = "p4cc-manifest.json"
FORMAT = "p4cc results 1"
PARTIAL = ".partial"
REPORT = "report.html"
"""Name of a report in a results folder."""
FILE = "file"
"""Key of an identity: the path of the results' source file, relative to the folder of all results."""
SETTINGS_AS_WRITTEN = "as written"
"""Key of an identity: results of a scenario without changes from the command line."""
_MARKER = ".p4cc-partial.json"
_SPARE_BYTES = 1 << 20
"""Free disk space required in addition to the size of the last results."""

OTHER_FOLDER = "give a new or empty folder with --out"


@dataclass
class Manifest:
    """p4cc's files in a folder."""

    identity: dict[str, str]
    """Identifies the results; a call with another identity does not replace them without consent."""
    files: dict[str, str] = field(default_factory=dict[str, str])
    """SHA-256 by name, relative to the folder."""
    replaced: dict[str, str] = field(default_factory=dict[str, str])
    """While files move in: the previous files."""
    size_bytes: int = 0
    under_way: bool = False
    """Whether a lab is writing, or was killed while writing: its files are not listed yet."""

    def owned(self, folder: Path) -> list[str]:
        """Names of files that are unchanged since p4cc wrote them."""
        return [name for name in self.names() if self._is_ours(folder, name)]

    def changed(self, folder: Path) -> list[str]:
        """Names of files that were changed since p4cc wrote them."""
        return [name for name in self.names() if os.path.lexists(folder / name) and not self._is_ours(folder, name)]

    def names(self) -> list[str]:
        """All names, sorted."""
        return sorted({*self.files, *self.replaced})

    def plain(self) -> dict[str, object]:
        """Its JSON form."""
        more: dict[str, object] = {"replaced": self.replaced} if self.replaced else {}
        if self.under_way:
            more["under_way"] = True
        return {
            "format": FORMAT,
            "identity": self.identity,
            "size_bytes": self.size_bytes,
            "files": dict(sorted(self.files.items())),
            **more,
        }

    def _is_ours(self, folder: Path, name: str) -> bool:
        path = folder / name
        if path.is_symlink() or not path.is_file() or not path.resolve().is_relative_to(folder.resolve()):
            return False
        return digest(path) in (self.files.get(name), self.replaced.get(name))


@dataclass(frozen=True)
class Claim:
    """The files that a call writes, and their folder."""

    folder: Path
    identity: dict[str, str]
    names: tuple[str, ...]
    """Files that it may write, relative to the folder; a name that ends with `/` covers a folder."""
    force: bool = False
    """Replace results of other settings."""


def digest(path: Path) -> str:
    """SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def read_manifest(folder: Path) -> Manifest | None:
    """The manifest of a folder; an empty one if there is none of p4cc's."""
    try:
        held: Any = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return None
    if not isinstance(held, dict):
        return None
    plain = cast("dict[str, Any]", held)
    identity, files, replaced = (_texts(plain.get(name, {})) for name in ("identity", "files", "replaced"))
    size = plain.get("size_bytes", 0)
    if plain.get("format") != FORMAT or identity is None or files is None or replaced is None:
        return None
    if not isinstance(size, int) or not all(map(_is_inside, (*files, *replaced))):
        return None
    return Manifest(identity, files, replaced, size, plain.get("under_way") is True)


@contextmanager
def results_into(claim: Claim, then: Callable[[Manifest], None] | None = None) -> Generator[Path]:
    """Yields a folder to write into, whose final content becomes that of `claim.folder`.

    `then` receives the list of files before another call may write there.

    The user's files stay. Raises UserError, before anything runs, if the folder cannot take the results.
    """
    folder = claim.folder
    with ExitStack() as stack:
        lock_folder(folder, stack)
        before = check_claim(claim)
        _clean_partials(folder)
        partial = _make_partial(claim)
        if read_manifest(folder) is None:
            # From here on the manifest marks the folder as p4cc's, whatever is written to it.
            write_manifest(folder, partial, before)
            stack.callback(forget_if_bare, folder)
        # What has not been moved out by now belongs to a failed call.
        stack.callback(_remove_partial, partial)
        stack.enter_context(left_until_done(partial, lambda: _leave_nothing(folder, partial)))
        try:
            yield partial
            written = _publish(claim, partial, before)
            if then is not None:
                then(written)
        except OSError as error:
            raise _unwritable(folder, error) from error


def add_file(folder: Path, name: str, content: bytes, *, force: bool = False) -> None:
    """Adds or replaces one file of p4cc's in a results folder, and lists it.

    Raises UserError if a foreign file has that name, unless forced, or if another call is writing to the folder.
    """
    with ExitStack() as stack:
        lock_folder(folder, stack)
        manifest = read_manifest(folder)
        if manifest is None:
            raise UserError("holds no results of p4cc", place=str(folder), remedy="name a folder that p4cc wrote")
        if not force and os.path.lexists(folder / name) and name not in manifest.owned(folder):
            cause = f"{name} is not as p4cc wrote it, or is not p4cc's"
            remedy = "move or rename it to keep it, give another file with -o, or replace it with --force"
            raise UserError(cause, place=str(folder), remedy=remedy)
        try:
            with tempfile.TemporaryDirectory(prefix=f".{folder.name}-", suffix=PARTIAL, dir=folder.parent) as place:
                partial = Path(place)
                (partial / name).write_bytes(content)
                before, new = manifest.replaced, {**manifest.files, name: digest(partial / name)}
                # After a kill between the two steps, either file is known as p4cc's.
                moving = {**before, **({name: manifest.files[name]} if name in manifest.files else {})}
                write_manifest(folder, partial, replace(manifest, files=new, replaced=moving))
                (partial / name).replace(folder / name)
                write_manifest(folder, partial, replace(manifest, files=new, replaced=before))
        except OSError as error:
            raise _unwritable(folder, error) from error


def is_of(held: dict[str, str], wanted: dict[str, str]) -> bool:
    """Whether a manifest's identity is the wanted one; older ones do not name the file."""
    return {FILE: wanted.get(FILE, ""), **held} == {FILE: "", **wanted}


def _texts(held: Any) -> dict[str, str] | None:
    if not isinstance(held, dict):
        return None
    items = cast("dict[Any, Any]", held)
    if not all(isinstance(key, str) and isinstance(value, str) for key, value in items.items()):
        return None
    return cast("dict[str, str]", items)


def _is_inside(name: str) -> bool:
    """A manifest from elsewhere must not name files outside of its folder."""
    path = PurePosixPath(name)
    return bool(name) and "\0" not in name and not path.is_absolute() and ".." not in path.parts


def _unwritable(folder: Path, error: OSError) -> UserError:
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        remedy = "free some room, or give a folder on another disk with --out; finished runs are kept in the cache"
    else:
        remedy = "give another folder with --out"
    return UserError(f"cannot write results: {error.strerror or error}", place=str(folder), remedy=remedy)


def lock_folder(folder: Path, stack: ExitStack) -> None:
    """Creates the folder if necessary and holds its lock; raises UserError if another call holds it."""
    while True:
        made = _make(folder)
        try:
            handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        except FileNotFoundError:
            # The process that created it has removed it.
            continue
        except OSError as error:
            raise _unwritable(folder, error) from error
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            os.close(handle)
            if error.errno not in (errno.EWOULDBLOCK, errno.EACCES):
                raise _unwritable(folder, error) from error
            cause = "another p4cc writes into this folder"
            raise UserError(cause, place=str(folder), remedy="wait for it, or give another folder with --out") from None
        if _is_same(folder, handle):
            break
        os.close(handle)
    stack.callback(os.close, handle)
    if made:
        stack.callback(_remove_if_empty, folder)


def _make(folder: Path) -> bool:
    """Creates the folder; returns whether it is new."""
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise _unwritable(folder, error) from error
    try:
        folder.mkdir()
    except FileExistsError:
        if not folder.is_dir():
            raise UserError("is a file, not a folder", place=str(folder), remedy=OTHER_FOLDER) from None
        return False
    except OSError as error:
        raise _unwritable(folder, error) from error
    return True


def _is_same(folder: Path, handle: int) -> bool:
    try:
        return os.path.samestat(folder.stat(), os.fstat(handle))
    except FileNotFoundError:
        return False


def _remove_empty_parents(folder: Path, name: str) -> None:
    for place in PurePosixPath(name).parents[:-1]:
        _remove_if_empty(folder / place)


def forget_if_bare(folder: Path) -> None:
    """Removes the manifest of a failed call that left nothing else."""
    if [path.name for path in folder.iterdir()] == [MANIFEST]:
        (folder / MANIFEST).unlink()


def _leave_nothing(folder: Path, partial: Path) -> None:
    """The clean-up of a call that wrote nothing, for an immediate exit."""
    _remove_partial(partial)
    with suppress(OSError):
        forget_if_bare(folder)
    _remove_if_empty(folder)


def _remove_if_empty(folder: Path) -> None:
    try:
        folder.rmdir()
    except OSError:
        return


def check_claim(claim: Claim) -> Manifest:
    """Checks that existing results may be replaced; raises UserError."""
    folder, manifest = claim.folder, read_manifest(claim.folder)
    if not os.access(folder, os.W_OK | os.X_OK) or not os.access(folder.parent, os.W_OK | os.X_OK):
        raise UserError("the folder is not writable", place=str(folder), remedy="give another folder with --out")
    if manifest is None:
        if any(folder.iterdir()):
            cause = "the folder holds something other than results of p4cc"
            raise UserError(cause, place=str(folder), remedy=OTHER_FOLDER)
        return Manifest(claim.identity)
    if not is_of(manifest.identity, claim.identity) and not claim.force:
        raise UserError(
            f"the folder holds results of something else ({_differences(manifest.identity, claim.identity)})",
            place=str(folder),
            remedy="give another folder with --out, or replace them with --force",
        )
    if changed := manifest.changed(folder):
        refuse(folder, changed, "was changed since p4cc wrote it")
    foreign = [name for name in _present(folder, claim.names) if name not in manifest.names()]
    if foreign:
        refuse(folder, foreign, "has the name of a result, and p4cc did not write it")
    if (free := shutil.disk_usage(folder).free) < manifest.size_bytes + _SPARE_BYTES:
        raise UserError(
            f"{free / 1e6:,.0f} MB are free on the disk, and the last results took {manifest.size_bytes / 1e6:,.0f} MB",
            place=str(folder),
            remedy="free some room, or give a folder on another disk with --out",
        )
    return manifest


def _present(folder: Path, names: Iterable[str]) -> list[str]:
    """Existing files among these names, including files in listed folders."""
    found: list[str] = []
    for name in names:
        if name.endswith("/"):
            inside = sorted(path for path in (folder / name).rglob("*") if path.is_symlink() or not path.is_dir())
            found += [str(path.relative_to(folder)) for path in inside]
        elif os.path.lexists(folder / name):
            found.append(name)
    return found


def refuse(folder: Path, names: list[str], why: str) -> NoReturn:
    """Raises UserError for files that must not be replaced; `why` follows the name of the first."""
    more = f" (and {len(names) - 1} more)" if len(names) > 1 else ""
    cause = f"{names[0]} {why}{more}"
    raise UserError(cause, place=str(folder), remedy="move or rename it to keep it, or give another folder with --out")


def _differences(there: dict[str, str], wanted: dict[str, str]) -> str:
    keys = [key for key in (*wanted, *there) if there.get(key) != wanted.get(key)]
    return ", ".join(f"{key}: {there.get(key, 'none')}, not {wanted.get(key, 'none')}" for key in dict.fromkeys(keys))


def _make_partial(claim: Claim) -> Path:
    folder = claim.folder
    try:
        partial = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", suffix=PARTIAL, dir=folder.parent))
        marker = {"format": FORMAT, "names": [*claim.names, MANIFEST]}
        (partial / _MARKER).write_text(json.dumps(marker), encoding="utf-8")
    except OSError as error:
        raise _unwritable(folder, error) from error
    return partial


def _clean_partials(folder: Path) -> None:
    """Removes leftovers of killed calls: we hold the lock, so no running call owns any."""
    for left in folder.parent.glob(f".{_literal(folder.name)}-*{PARTIAL}"):
        _remove_partial(left)


def _literal(name: str) -> str:
    return "".join(f"[{letter}]" if letter in "*?[" else letter for letter in name)


def _remove_partial(partial: Path) -> None:
    """Removes the files that the call may have written, and then the folder if it is empty."""
    try:
        marker: Any = json.loads((partial / _MARKER).read_text(encoding="utf-8"))
        names = [name for name in marker["names"] if isinstance(name, str) and _is_inside(name)]
        if marker["format"] != FORMAT or partial.is_symlink():
            return
        for name in _present(partial, names):
            if not (partial / name).is_symlink():
                (partial / name).unlink()
        for place in sorted((path for path in partial.rglob("*") if path.is_dir()), reverse=True):
            place.rmdir()
        (partial / _MARKER).unlink()
        partial.rmdir()
    except (OSError, ValueError, LookupError, TypeError):
        return


def _publish(claim: Claim, partial: Path, before: Manifest) -> Manifest:
    """Moves new files to their places; a file with the same bytes is left untouched."""
    folder = claim.folder
    written = sorted(str(path.relative_to(partial)) for path in partial.rglob("*") if path.is_file())
    new = {name: digest(partial / name) for name in written if name != _MARKER}
    size = sum((partial / name).stat().st_size for name in new)
    owned = before.owned(folder)
    taken = [name for name in new if os.path.lexists(folder / name) and name not in owned]
    if taken:
        _keep_beside(folder, partial, taken)
    was = {name: digest(folder / name) for name in owned}
    write_manifest(folder, partial, Manifest(claim.identity, new, was, size))
    for name, content in new.items():
        if was.get(name) == content:
            (partial / name).unlink()
            continue
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (partial / name).replace(folder / name)
    for name in owned:
        if name not in new:
            (folder / name).unlink()
            _remove_empty_parents(folder, name)
    written = Manifest(claim.identity, new, {}, size)
    write_manifest(folder, partial, written)
    return written


def _keep_beside(folder: Path, partial: Path, taken: Iterable[str]) -> None:
    """Keeps both files if somebody else created one in the place of a result during the run."""
    (partial / _MARKER).unlink()
    kept = partial.with_name(partial.name.removeprefix(".").removesuffix(PARTIAL))
    partial.replace(kept)
    kept.chmod(0o755)
    cause = f"{', '.join(taken)} appeared there while the run was under way"
    raise UserError(cause, place=str(folder), remedy=f"nothing was replaced; the results are in {kept}")


def write_manifest(folder: Path, partial: Path, manifest: Manifest) -> None:
    """Replaces the manifest atomically; it is written in `partial`, on the same disk."""
    path = partial / MANIFEST
    path.write_text(json.dumps(manifest.plain(), indent=1) + "\n", encoding="utf-8")
    path.replace(folder / MANIFEST)
