"""Records of a real TCP server become rows of a job."""

from __future__ import annotations

import socket

from tests.workspace import Workspace

LINES = """
CREATE TABLE lines (k STRING, n INT) WITH (
  'connector' = 'socket', 'hostname' = '127.0.0.1', 'port' = '{port}', 'format' = 'csv');
CREATE TABLE kept (k STRING, n INT) WITH ('connector' = 'delta', 'path' = '${{OUT}}/kept');
INSERT INTO kept SELECT k, n * 10 FROM lines WHERE n > 1;
"""


def test_lines_are_rows(workspace: Workspace) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        result = workspace.run(LINES.format(port=server.getsockname()[1]))[-1]
        assert result.query is not None
        client, _ = server.accept()
        with client:
            client.sendall(b"a,1\nb,2\n")
            workspace.until(lambda: workspace.delta("kept") == [("b", "20")])
            client.sendall(b"c,3\n")
            workspace.until(lambda: len(workspace.delta("kept")) == 2)
        result.query.stop()
    assert workspace.delta("kept") == [("b", "20"), ("c", "30")]
