"""Keep bytes as objects of an object store, by the package obstore (the extra ``objects``)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar

from sqlext.errors import SqlExtError
from sqlext.extras import package

_T = TypeVar("_T")

#: What Spark and Hadoop call the settings of S3, and what obstore calls them.
_S3A = {
    "access.key": "access_key_id",
    "secret.key": "secret_access_key",
    "session.token": "session_token",
    "endpoint": "endpoint",
    "endpoint.region": "region",
}
_PREFIX = "fs.s3a."
#: Spark hands what begins so to Hadoop, without it.
_OF_SPARK = "spark.hadoop."


class ObjectStore:
    """A ``Store`` in a bucket.

    Args:
        url: where: ``s3://bucket/folder``, ``s3a://...``, ``gs://...``, ``abfss://...``; ``memory:///`` is this process.
        settings: Spark's, or Hadoop's. Keys and endpoints of S3 are taken from them, all else from the environment.

    Raises:
        SqlExtError: ENV-011 without the package; RUN-015 if the URL or its settings are wrong. Every method raises
            RUN-015 if the store cannot be reached or refuses access.
    """

    def __init__(self, url: str, settings: Mapping[str, str] | None = None) -> None:
        self._url = url
        self._package = package("obstore", "objects", f"`{url}`")
        make = package("obstore.store", "objects", f"`{url}`").from_url
        config = s3_config(settings or {}) if url.lower().startswith("s3") else {}
        # Only an endpoint that the user has named has no TLS.
        plain = str(config.get("endpoint", "")).startswith("http:")
        self._objects = self._checked(lambda: make(url, config=config, client_options={"allow_http": plain}))

    def read(self, key: str) -> bytes | None:
        """Return what is kept under a key, None if nothing is."""
        try:
            return self._checked(lambda: bytes(self._package.get(self._objects, key).bytes()))
        except FileNotFoundError:
            return None

    def write(self, key: str, data: bytes) -> None:
        """Keep bytes under a key, in place of what was there."""
        self._checked(lambda: self._package.put(self._objects, key, data, use_multipart=False))

    def create(self, key: str, data: bytes) -> bool:
        """Keep bytes under a key if nothing is there; return whether it was so."""
        try:
            # In one request: only that one is conditional.
            self._checked(lambda: self._package.put(self._objects, key, data, mode="create", use_multipart=False))
        except FileExistsError:
            return False
        return True

    def keys(self, prefix: str = "") -> Iterator[str]:
        """Yield the keys that begin with the parts of ``prefix``, in any order."""
        for page in self._checked(lambda: list(self._package.list(self._objects, prefix or None))):
            for found in page:
                yield found["path"]

    def delete(self, key: str) -> None:
        """Keep nothing under a key any more; it may be free already."""
        try:
            self._checked(lambda: self._package.delete(self._objects, key))
        except FileNotFoundError:
            return

    def _checked(self, act: Callable[[], _T]) -> _T:
        """Return what an act returns.

        Raises:
            FileNotFoundError, FileExistsError: as the store says.
            SqlExtError: RUN-015 for all else that goes wrong there.
        """
        errors = package("obstore.exceptions", "objects", f"`{self._url}`")
        try:
            return act()
        except errors.AlreadyExistsError as error:
            raise FileExistsError(str(error)) from None
        except errors.BaseError as error:
            said = str(error).partition("\n")[0]
            raise SqlExtError(
                "RUN-015",
                f"the store of `{self._url}` does not answer as it should: {said}",
                hint="check the URL, the credentials (environment, or spark.hadoop.fs.s3a.*) and the network",
            ) from None


def s3_config(settings: Mapping[str, str]) -> dict[str, str | bool]:
    """Return Spark's or Hadoop's settings of S3 as obstore calls them.

    Args:
        settings: by name, with ``spark.hadoop.`` before it or without; those of other things are passed over.
    """
    found: dict[str, str | bool] = {}
    for name, value in settings.items():
        key = name.removeprefix(_OF_SPARK)
        if key.startswith(_PREFIX) and key.removeprefix(_PREFIX) in _S3A and value:
            found[_S3A[key.removeprefix(_PREFIX)]] = value
        elif key == f"{_PREFIX}path.style.access":
            found["virtual_hosted_style_request"] = value.lower() != "true"
    # Hadoop takes an endpoint without a scheme; TLS is its default.
    endpoint = found.get("endpoint")
    if isinstance(endpoint, str) and "://" not in endpoint:
        secure = settings.get(f"{_OF_SPARK}{_PREFIX}connection.ssl.enabled", "true").lower() == "true"
        found["endpoint"] = f"{'https' if secure else 'http'}://{endpoint}"
    return found
