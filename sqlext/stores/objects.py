"""Keep bytes as objects of an object store, by the package obstore (the extra ``objects``)."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import timedelta
from functools import partial
from typing import Any, TypeVar
from urllib.parse import quote, urlsplit

from sqlext.errors import SqlExtError
from sqlext.extras import package
from sqlext.locations import scheme_of
from sqlext.stores.base import KeptBytes, checked_key

_T = TypeVar("_T")

#: What Spark and Hadoop call the settings of S3, and what obstore calls them.
_S3A = {
    "access.key": "access_key_id",
    "secret.key": "secret_access_key",
    "session.token": "session_token",
    "endpoint": "endpoint",
    "endpoint.region": "region",
}
#: What obstore calls them, and what pyarrow calls them.
_OF_PYARROW = {
    "access_key_id": "access_key",
    "secret_access_key": "secret_key",
    "session_token": "session_token",
    "region": "region",
}
#: The one provider of credentials of Hadoop's that has none: for buckets that all may read.
_ANONYMOUS = "AnonymousAWSCredentialsProvider"
#: Spark hands what begins so to Hadoop, without it.
_OF_SPARK = "spark.hadoop."
_PREFIX = "fs.s3a."
#: An object that stands for a folder in which nothing lies. Spark passes over names that begin so.
_FOLDER = "_folder"
#: How long one asks again, where the store fails or cannot be reached.
_RETRY_SECONDS = 20
#: What a store's answer says in short; all else of it may quote a request with its credentials.
_SAID = (
    re.compile(r"<Code>(\w+)</Code>"),
    re.compile(r"status code: (\d{3} [A-Z][A-Za-z ]*)"),
    re.compile(r"HttpError \{\s*kind: (\w+)"),
)
#: What kinds of failures of the network mean, by obstore's names.
_NETWORK = {"Connect": "it cannot be reached", "Timeout": "there is no answer in time"}


class ObjectStore:
    """A ``ByteStore`` behind a URL.

    Args:
        url: where: ``s3://bucket/folder``, ``s3a://...``, ``gs://...``, ``abfss://...``.
        settings: Spark's, or Hadoop's. Keys and endpoints of S3 are taken from them, all else from the environment.

    Raises:
        SqlExtError: ENV-011 without the package; RUN-015 if the URL or its settings are wrong. Every method raises
            RUN-015 if the store cannot be reached or refuses access.
    """

    def __init__(self, url: str, settings: Mapping[str, str] | None = None) -> None:
        self._url = without_secrets(url)
        self._package = package("obstore", "objects", f"`{self._url}`")
        self._errors = package("obstore.exceptions", "objects", f"`{self._url}`")
        make = package("obstore.store", "objects", f"`{self._url}`").from_url
        self._config = config = s3_config(settings or {}, urlsplit(url).netloc) if _is_s3(url) else {}
        _require_endpoint(config.get("endpoint"))
        # Only an endpoint that the user has named has no TLS; one of the environment says so there.
        client = {"allow_http": True} if config.get("endpoint", "").startswith("http:") else None
        retries = {"retry_timeout": timedelta(seconds=_RETRY_SECONDS)}
        self._objects = self._checked(
            lambda: make(_quoted(url), config=config, client_options=client, retry_config=retries)
        )

    def read(self, key: str) -> KeptBytes | None:
        """Return what is kept under a key, None if nothing is."""
        checked_key(key)

        def get() -> KeptBytes:
            found = self._package.get(self._objects, key)
            return KeptBytes(bytes(found.bytes()), _stamp(found.meta))

        try:
            return self._checked(get)
        except FileNotFoundError:
            return None

    def write(self, key: str, data: bytes) -> None:
        """Keep bytes under a key, in place of what was there."""
        self._put(key, data, "overwrite")

    def create(self, key: str, data: bytes) -> object | None:
        """Keep bytes under a key if nothing is there; return their stamp, None if something was."""
        try:
            return self._put(key, data, "create")
        except FileExistsError:
            return None

    def replace(self, key: str, data: bytes, stamp: object) -> object | None:
        """Keep bytes in place of those with this stamp; return the new stamp, None if they are not there any more."""
        try:
            return self._put(key, data, stamp)
        except (FileExistsError, FileNotFoundError):
            return None

    def keys(self, prefix: str = "") -> Iterator[str]:
        """Yield the keys that begin with the parts of ``prefix``, in any order."""
        for page in self._listed(prefix):
            yield from page

    def _pages(self, below: str | None) -> Iterator[Sequence[Mapping[str, Any]]]:
        pages = self._checked(lambda: self._package.list(self._objects, below))
        while (page := self._checked(lambda: next(pages, None))) is not None:
            yield page

    def delete(self, key: str) -> None:
        """Keep nothing under a key any more; it may be free already."""
        checked_key(key)
        try:
            self._checked(lambda: self._package.delete(self._objects, key))
        except FileNotFoundError:
            return

    def clear(self) -> None:
        """Delete all objects below the URL, whatever their names are."""
        for page in self._pages(None):
            self._checked(partial(self._package.delete, self._objects, [found["path"] for found in page]))

    def make(self) -> None:
        """Let Spark find the place: it is there with its first object. Spark reads none of such a name."""
        self.write(_FOLDER, b"")

    def remove(self, prefix: str) -> None:
        """Delete what has a name, and all that lies below it."""
        delete = self._package.delete
        for keys in self._listed(prefix):
            self._checked(partial(delete, self._objects, keys))
        self.delete(prefix)
        if _is_s3(self._url):
            self._remove_folders(prefix)

    def _remove_folders(self, prefix: str) -> None:
        """Delete Hadoop's objects that stand for folders: Spark takes a folder of state for state.

        Their keys end in a slash, which obstore takes for no part of a key. pyarrow deletes them.
        """
        from pyarrow import fs

        url = urlsplit(self._url)
        try:
            found = fs.S3FileSystem(**pyarrow_options(self._config, url.netloc))
            found.delete_dir(f"{url.netloc}{url.path}/{prefix}")
        except FileNotFoundError:
            return
        except OSError as error:
            raise self._failed(error) from None

    def move(self, source: str, target: str, last: str) -> None:
        """Copy what lies below a name to below another, then delete it; see ``ByteStore.move``."""
        mark = f"{source}/{last}"
        keys = sorted((key for page in self._listed(source) for key in page), key=lambda key: key == mark)
        marked = keys[-1:] == [mark]
        if marked:
            self.remove(target)
        copy = self._package.copy
        for key in keys:
            self._checked(partial(copy, self._objects, key, target + key.removeprefix(source)))
        if marked:
            self.delete(mark)
        self.remove(source)

    def leave(self) -> None:
        """Do nothing: no place is there without an object."""

    def _listed(self, prefix: str) -> Iterator[list[str]]:
        """Yield the keys below a name, whoever has written them, a page at a time."""
        below = checked_key(prefix) if prefix else None
        for page in self._pages(below):
            yield [found["path"] for found in page if found["size"] or not self._is_marker(found["path"])]

    def _is_marker(self, path: str) -> bool:
        """Whether an empty object only says that there is a folder: its key ends in a slash, and no path does.

        Hadoop leaves such objects. Nothing can be asked of them under the path by which they are listed.
        """
        try:
            self._checked(partial(self._package.head, self._objects, path))
        except FileNotFoundError:
            return True
        return False

    def _put(self, key: str, data: bytes, mode: object) -> object:
        checked_key(key)
        # In one request: only that one is conditional.
        put = self._package.put
        return _stamp(self._checked(lambda: put(self._objects, key, data, mode=mode, use_multipart=False)))

    def _checked(self, act: Callable[[], _T]) -> _T:
        """Return what an act returns.

        Raises:
            FileNotFoundError: there is no such object.
            FileExistsError: there is one, or another one.
            SqlExtError: RUN-015 for all else that goes wrong there.
        """
        try:
            return act()
        except (self._errors.AlreadyExistsError, self._errors.PreconditionError):
            raise FileExistsError from None
        except (FileNotFoundError, self._errors.NotFoundError) as error:
            # A bucket that is not there is no answer about a key.
            if "NoSuchBucket" in str(error):
                raise self._failed(error) from None
            raise FileNotFoundError from None
        except (self._errors.BaseError, ValueError) as error:
            raise self._failed(error) from None

    def _failed(self, error: Exception) -> SqlExtError:
        return failure(self._url, error)


def failure(url: str, error: Exception) -> SqlExtError:
    """Return the refusal (RUN-015) for what a client of a store has raised, without all that may quote credentials."""
    said = [found.group(1).strip() for pattern in _SAID if (found := pattern.search(str(error)))]
    why = (said or [type(error).__name__.removesuffix("Error")])[0]
    return unanswered(url, _NETWORK.get(why, why))


def unanswered(url: str, why: str) -> SqlExtError:
    """Return the refusal (RUN-015) of a store that does not answer as it should."""
    # Only of S3 Spark's settings are taken.
    or_of_spark = f", or {_OF_SPARK}{_PREFIX}*" if scheme_of(url) in ("s3", "s3a") else ""
    return SqlExtError(
        "RUN-015",
        f"the store of `{url}` does not answer as it should: {why}",
        hint=f"check the URL, the network and the credentials: of the environment{or_of_spark}",
    )


def s3_config(settings: Mapping[str, str], bucket: str) -> dict[str, str]:
    """Return Spark's or Hadoop's settings of S3 as obstore calls them.

    Args:
        settings: by name, with ``spark.hadoop.`` before it or without; those of other things are passed over.
        bucket: whose own settings (``fs.s3a.bucket.NAME.endpoint``) go before those of all.
    """
    of_all, own = _PREFIX, f"{_PREFIX}bucket.{bucket}."
    # Those without the prefix are a session's own, and go before Spark's.
    ordered = sorted(settings.items(), key=lambda setting: not setting[0].startswith(_OF_SPARK))
    hadoop = {name.removeprefix(_OF_SPARK): value for name, value in ordered if value}

    def setting(name: str) -> str | None:
        return hadoop.get(own + name) or hadoop.get(of_all + name)

    config = {ours: value for name, ours in _S3A.items() if (value := setting(name)) is not None}
    if _ANONYMOUS in (setting("aws.credentials.provider") or ""):
        config["skip_signature"] = "true"
    # Hadoop takes an endpoint without a scheme; TLS is its default.
    endpoint = config.get("endpoint")
    if endpoint is not None and "://" not in endpoint:
        secure = (setting("connection.ssl.enabled") or "true").lower() == "true"
        config["endpoint"] = f"{'https' if secure else 'http'}://{endpoint}"
    return config


def pyarrow_options(config: Mapping[str, str], bucket: str) -> dict[str, object]:
    """Return what ``s3_config`` gives as pyarrow calls it; what stands in the environment alone too."""
    from pyarrow import fs

    found: dict[str, object] = {ours: config[theirs] for theirs, ours in _OF_PYARROW.items() if theirs in config}
    if "skip_signature" in config:  # pyarrow takes no keys then
        found = {name: value for name, value in found.items() if name == "region"} | {"anonymous": True}
    endpoint = config.get("endpoint") or _variable("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", "AWS_ENDPOINT")
    if endpoint is not None:
        # pyarrow takes the scheme of a variable for part of the host.
        parts = urlsplit(endpoint if "://" in endpoint else f"https://{endpoint}")
        found |= {"endpoint_override": parts.netloc, "scheme": parts.scheme}
    # pyarrow takes us-east-1 else, and a bucket elsewhere does not answer it. Other servers have no regions.
    elif "region" not in found and _variable("AWS_REGION", "AWS_DEFAULT_REGION") is None:
        found["region"] = fs.resolve_s3_region(bucket)
    return found


def _variable(*names: str) -> str | None:
    """Return the first variable of the environment that is there."""
    return next((value for name in names if (value := os.environ.get(name))), None)


def delta_options(url: str, settings: Mapping[str, str]) -> dict[str, str]:
    """Return what delta-rs is told of a store: as ``ObjectStore``, settings of S3, and all else by the environment."""
    config = s3_config(settings, urlsplit(url).netloc) if _is_s3(url) else {}
    named = {f"AWS_{name.upper()}": value for name, value in config.items()}
    plain = {"AWS_ALLOW_HTTP": "true"} if config.get("endpoint", "").startswith("http:") else {}
    return {"retry_timeout": f"{_RETRY_SECONDS}s", **named, **plain}


def _is_s3(url: str) -> bool:
    return url.lower().startswith("s3")


def _require_endpoint(endpoint: str | None) -> None:
    """Refuse an endpoint that is no URL (RUN-015): obstore would end the thread at its first request."""
    if endpoint is None:
        return
    try:
        parts = urlsplit(endpoint)
        known = parts.hostname and parts.port != 0  # ``port`` raises for what is no number of one
    except ValueError:
        known = False
    if not known:
        hint = "give host and port: spark.hadoop.fs.s3a.endpoint = http://host:9000"
        raise SqlExtError("RUN-015", f"the endpoint `{endpoint}` of the object store is no URL", hint=hint)


def _stamp(found: Mapping[str, object]) -> Mapping[str, object]:
    """Return what a conditional write asks for: S3 and Azure compare the first, Google Cloud the second."""
    return {name: value for name in ("e_tag", "version") if (value := found.get(name)) is not None}


def _quoted(url: str) -> str:
    """Return a URL as obstore reads it: Spark takes each character of a path for itself, also ``%20``."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}{quote(parts.path)}"


def without_secrets(url: str) -> str:
    """Return a URL that has no credentials in it; raises RUN-015 for another, which is not quoted."""
    parts = urlsplit(url)
    # Azure names the container before the account: ``container@account``. A name has no colon anywhere.
    at = "@" in parts.netloc and not parts.scheme.startswith("abfs")
    if not at and ":" not in parts.netloc and not parts.query and not parts.fragment:
        return url
    raise SqlExtError(
        "RUN-015",
        f"a URL of {parts.scheme} has more in it than a place: credentials must not stand there",
        hint="give credentials in the environment, or as spark.hadoop.fs.s3a.*",
    )
