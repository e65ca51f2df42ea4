"""One client at a time on one OUT_DIR: a file that says whose it is, renewed for as long as he lives."""

import os
import time
from collections.abc import Callable

from fastsvm_cli.cluster.folder import Folder
from fastsvm_cli.cluster.shards import shown
from fastsvm_cli.errors import FileError

NAME = ".fastsvm-lease"
#: Seconds between two renewals, and after how many without one a client counts as dead.
BEAT = 10.0
PATIENCE = 60.0
#: What is said of a folder where a worker does not find what the client has written.
NOT_SHARED = "a worker does not see what this command writes there; expected a disk, or a store, that all of them share"
_SETTLE = 1.0  # seconds after which, of two clients that take a lease over, each sees who was the last


class Lease:
    """Taken by `take`, and kept in a thread until `release`. Another client's is refused with a FileError, unless that
    is dead: its process on this machine has ended, or it has renewed nothing for PATIENCE seconds.

    identity: of this client; workers compare it with what they find (`no_longer`) before they publish a part. lost:
    the file is another client's now."""

    def __init__(self, folder: Folder, say: "Callable[[str], None]" = lambda line: None):
        from threading import Event, Thread

        self.folder, self._say = folder, say
        self.identity = os.urandom(8).hex()
        self.lost = False
        self._tried = False
        self._end = Event()
        self._thread: Thread | None = None

    def take(self) -> None:
        """Raises FileError, and what the store raises."""
        from threading import Thread

        self._tried = True
        if not self.folder.create(NAME, self._words()):
            found = _parse(self.folder.read(NAME))
            why = _alive(found)
            if why is not None:
                raise FileError(shown(self.folder.url), why)
            self.folder.put(NAME, self._words(), self.identity)
            time.sleep(_SETTLE)
            if not holds(self.folder, self.identity):
                raise FileError(shown(self.folder.url), "another fastsvm has begun to write it just now")
            who = f"process {found['pid']} on {found['host']}" if found else "a client that has gone"
            self._say(f"Taken over from {who}, which has ended.")
        self._thread = Thread(target=self._renew, daemon=True)
        self._thread.start()

    def release(self) -> None:
        """Nobody's from here on."""
        self._end.set()
        if self._thread is not None:
            self._thread.join()
            self._thread = None
        try:
            if self._tried and not self.lost and holds(self.folder, self.identity):
                self.folder.remove(NAME)
        except Exception:  # a store that has gone: the lease gets old by itself
            pass

    def _renew(self) -> None:
        while not self._end.wait(BEAT):
            try:
                if not holds(self.folder, self.identity):
                    self.lost = True
                    return
                self.folder.put(NAME, self._words(), self.identity)
            except Exception:  # it may pass; if it does not, the parts cannot be written either
                continue

    def _words(self) -> bytes:
        import json
        import socket

        pid = os.getpid()
        return json.dumps(
            {
                "client": self.identity,
                "host": socket.gethostname(),
                "pid": pid,
                "place": _place(),
                "begun": _begun(pid),
                "renewed": time.time(),
            }
        ).encode()


def holds(folder: Folder, identity: str) -> bool:
    """Whether the folder is that client's."""
    return _is_of(folder.read(NAME), identity)


def no_longer(folder: Folder, identity: str) -> str:
    """Why a worker must not write a part; empty: the folder is that client's."""
    text = folder.read(NAME)
    if text is None:  # the client has gone, and nobody reads this; or it looks at another folder
        return NOT_SHARED
    return "" if _is_of(text, identity) else "another fastsvm has taken it over"


def _is_of(text: "bytes | None", identity: str) -> bool:
    found = _parse(text)
    return found is not None and found["client"] == identity


def _parse(text: "bytes | None") -> "dict | None":
    import json

    try:
        found = json.loads(text or b"")
        return found if isinstance(found, dict) and {"client", "host", "pid", "renewed"} <= set(found) else None
    except ValueError:
        return None


def _alive(found: "dict | None") -> "str | None":
    """Why a lease must be respected; None: its client is dead, or it is none."""
    if found is None:
        return None
    if found.get("place") == _place() and found["place"]:
        if _begun(found["pid"]) != found.get("begun"):
            return None
        return f"another fastsvm is writing it (process {found['pid']} on this machine)"
    silent = time.time() - found["renewed"]
    if silent > PATIENCE:
        return None
    who = f"process {found['pid']} on {found['host']}"
    return (
        f"another fastsvm is writing it ({who}, last heard of {max(silent, 0):.0f} s ago); if that has ended, try again"
        f" in {PATIENCE - silent:.0f} s"
    )


def _place() -> str:
    """What tells the processes of this machine, since it was started, from those of others; empty if nothing does."""
    try:
        with open("/proc/sys/kernel/random/boot_id") as file:
            return f"{file.read().strip()} {os.readlink('/proc/self/ns/pid')}"
    except OSError:
        return ""


def _begun(pid: int) -> str:
    """When a process of this machine began, in its own units; empty if there is none, or if it has ended and nobody
    has asked for its exit code."""
    try:
        with open(f"/proc/{pid}/stat") as file:
            words = file.read().rpartition(")")[2].split()
    except OSError:
        return ""
    return "" if words[0] in ("Z", "X") else words[19]
