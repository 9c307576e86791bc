"""A server of S3 for tests, by the package moto: at loopback, its objects in this process's memory."""

from __future__ import annotations

import json
import logging
import threading
import uuid
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.request import Request, urlopen

BUCKET = "places"
KEY, SECRET = "KEYOFTHETESTS", "secret/of+the/tests"


@dataclass(frozen=True)
class S3Server:
    """A running server with one empty bucket.

    Attributes:
        lost: ends of the paths of objects whose next PUT is done, but answered by an error of the server.
    """

    endpoint: str
    lost: list[str] = field(default_factory=list)

    @property
    def settings(self) -> dict[str, str]:
        """How Spark is told of it."""
        return {
            "spark.hadoop.fs.s3a.endpoint": self.endpoint,
            "spark.hadoop.fs.s3a.endpoint.region": "us-east-1",
            "spark.hadoop.fs.s3a.access.key": KEY,
            "spark.hadoop.fs.s3a.secret.key": SECRET,
            "spark.hadoop.fs.s3a.path.style.access": "true",
        }

    @property
    def environment(self) -> dict[str, str]:
        """How the variables of a process tell of it."""
        return {
            "AWS_ACCESS_KEY_ID": KEY,
            "AWS_SECRET_ACCESS_KEY": SECRET,
            "AWS_REGION": "us-east-1",
            "AWS_ENDPOINT_URL": self.endpoint,
            "AWS_ALLOW_HTTP": "true",
        }

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Look at credentials while the block runs: the server knows no key, so all are wrong."""
        self._look_after(b"0")
        try:
            yield
        finally:
            self._look_after(b"inf")

    def reader(self) -> dict[str, str]:
        """Return the settings of a new user who may read, and write nothing; they count while it is ``locked``."""
        import boto3

        login = {"aws_access_key_id": KEY, "aws_secret_access_key": SECRET, "region_name": "us-east-1"}
        users = boto3.client("iam", endpoint_url=self.endpoint, **login)
        name = uuid.uuid4().hex
        users.create_user(UserName=name)
        allowed = [{"Effect": "Allow", "Action": ["s3:Get*", "s3:List*"], "Resource": "*"}]
        policy = json.dumps({"Version": "2012-10-17", "Statement": allowed})
        users.put_user_policy(UserName=name, PolicyName="reads", PolicyDocument=policy)
        key = users.create_access_key(UserName=name)["AccessKey"]
        own = {"access.key": key["AccessKeyId"], "secret.key": key["SecretAccessKey"]}
        return self.settings | {f"spark.hadoop.fs.s3a.{option}": value for option, value in own.items()}

    def _look_after(self, requests: bytes) -> None:
        plain = {"Content-Type": "text/plain"}
        with urlopen(Request(f"{self.endpoint}/moto-api/reset-auth", requests, plain), timeout=10):
            pass

    def client(self) -> Any:
        """Return Amazon's own client."""
        import boto3

        login = {"aws_access_key_id": KEY, "aws_secret_access_key": SECRET, "region_name": "us-east-1"}
        return boto3.client("s3", endpoint_url=self.endpoint, **login)


@contextmanager
def s3_server() -> Iterator[S3Server]:
    """Run a server until the block ends."""
    from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app
    from werkzeug.serving import WSGIRequestHandler, make_server

    class Handler(WSGIRequestHandler):
        """Answers ``Expect: 100-continue`` once.

        The class below sends one, werkzeug's own method another. Clients that write state take it for the answer.
        """

        def handle_expect_100(self) -> bool:
            return True

    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    lost: list[str] = []
    app = _one_at_a_time(DomainDispatcherApplication(create_backend_app), lost)
    server = make_server("127.0.0.1", 0, app, threaded=True, request_handler=Handler)
    threading.Thread(target=server.serve_forever, name="s3 server", daemon=True).start()
    try:
        found = S3Server(f"http://127.0.0.1:{server.server_port}", lost)
        found.client().create_bucket(Bucket=BUCKET)
        yield found
    finally:
        server.shutdown()
        server.server_close()


def _one_at_a_time(app: Callable[..., Iterable[bytes]], lost: list[str]) -> Callable[..., Iterable[bytes]]:
    """Serve one request after the other: S3 decides on a condition and writes in one step, which moto does not."""
    serving = threading.Lock()

    def serve(environment: dict[str, Any], start: Callable[..., Any]) -> Iterable[bytes]:
        with serving:
            ends = [end for end in lost if environment["PATH_INFO"].endswith(end)]
            if environment["REQUEST_METHOD"] != "PUT" or not ends:
                return list(app(environment, start))
            lost.remove(ends[0])
            list(app(environment, lambda *_: None))
            start("500 Internal Server Error", [])
            return [b""]

    return serve
