"""How long an editor waits: questions to the language server about a script of 1,000 lines.

python -m tests.benchmarks.editor
"""

from __future__ import annotations

import asyncio
import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

from lsprotocol import types

from tests.lsp.client import Editor, at, document

_BLOCK = """
-- Sales of shop {n}.
CREATE TABLE orders_{n} (
  order_id BIGINT,
  customer STRING,
  item STRING,
  amount DOUBLE,
  ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '10' SECOND
) WITH (
  'connector' = 'filesystem',
  'path' = '${{IN}}/orders_{n}',
  'format' = 'json'
);
CREATE TABLE totals_{n} (item STRING, window_start TIMESTAMP(3), total DOUBLE, buyers BIGINT)
WITH ('connector' = 'delta', 'path' = '${{OUT}}/totals_{n}');
CREATE VIEW large_{n} AS
SELECT order_id, customer, item, amount, ts FROM orders_{n} WHERE amount > 5;
INSERT INTO totals_{n}
SELECT item, window_start, SUM(amount), COUNT(DISTINCT customer)
FROM TABLE(TUMBLE(TABLE large_{n}, DESCRIPTOR(ts), INTERVAL '1' MINUTE))
GROUP BY item, window_start, window_end
EMIT AFTER WATERMARK EARLY EVERY 100 ROWS;
SELECT o.item, l.amount FROM orders_{n} AS o JOIN large_{n} AS l
  ON o.order_id = l.order_id AND l.ts BETWEEN o.ts AND o.ts + INTERVAL '1' HOUR;
"""
_ROUNDS = 40


def script(lines: int) -> str:
    """Return a script of about that many lines."""
    text, n = "", 0
    while text.count("\n") < lines:
        text, n = text + _BLOCK.format(n=n), n + 1
    return text


async def measure(root: Path) -> None:
    """Print how long each question takes, in milliseconds."""
    editor, uri, text = Editor(), (root / "long.sql").as_uri(), script(1000)
    await editor.start(root)
    began = time.perf_counter()
    editor.open(uri, text)
    await editor.diagnostics(uri)
    print(f"{text.count(chr(10))} lines, {text.count(';')} statements; first diagnostics: {_ms(began):.0f} ms")
    client = editor.client
    # Meanwhile the server looks the names up: nobody reads 1,000 lines in less.
    await asyncio.sleep(2)

    async def asked(name: str, question: Callable[[types.Position], Awaitable[object]], number: int) -> float:
        # Each question is about a version that the server has not seen: somebody types.
        typed = (
            f"-- {'x' * number}\n{text}"
            if number % 2 == 0
            else text.replace("SELECT item, w", f"SELECT '{number}', item, w", 1)
        )
        editor.change(uri, typed)
        where = at(typed, "o.item, l.amount FROM orders_20", inside=0 if name == "completion of any word" else 12)
        begun = time.perf_counter()
        await question(where)
        return _ms(begun)

    async def completion(where: types.Position) -> object:
        return await client.text_document_completion_async(types.CompletionParams(document(uri), where))

    questions: dict[str, Callable[[types.Position], Awaitable[object]]] = {
        "completion behind a dot": completion,
        "completion of any word": completion,
        "hover": lambda p: client.text_document_hover_async(types.HoverParams(document(uri), p)),
        "definition": lambda p: client.text_document_definition_async(types.DefinitionParams(document(uri), p)),
        "references": lambda p: client.text_document_references_async(
            types.ReferenceParams(types.ReferenceContext(True), document(uri), p)
        ),
        "rename": lambda p: client.text_document_rename_async(types.RenameParams(document(uri), p, "purchases")),
        "signatures": lambda p: client.text_document_signature_help_async(types.SignatureHelpParams(document(uri), p)),
        "code lenses": lambda p: client.text_document_code_lens_async(types.CodeLensParams(document(uri))),
    }
    for name, question in questions.items():
        used = editor.processor_seconds()
        times = [await asked(name, question, number) for number in range(_ROUNDS)]
        each = (editor.processor_seconds() - used) / _ROUNDS * 1000
        waited = f"median {statistics.median(times):6.1f} ms, p95 {statistics.quantiles(times, n=20)[-1]:6.1f} ms"
        print(f"{name:24} {waited}, processor {each:.1f} ms")
    times = []
    for number in range(_ROUNDS):
        editor.change(uri, text.replace("SELECT item, w", f"SELECT '{number}' AS n, item, w", 1))
        begun = time.perf_counter()
        await editor.diagnostics(uri)
        times.append(_ms(begun))
    print(f"{'diagnostics':24} median {statistics.median(times):6.1f} ms, of which 200 ms are the pause")
    await editor.stop()


def _ms(since: float) -> float:
    return (time.perf_counter() - since) * 1000


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(measure(Path(folder)))
