"""The setup of docs/editors.md in a real Neovim, where there is one."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

_PAGE = Path(__file__).parents[2] / "docs" / "editors.md"
SCRIPT = """CREATE TABLE orders (item STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
WITH ('connector' = 'filesystem', 'path' = '${IN}/orders', 'format' = 'json');
SELECT itm FROM orders;
"""
_ASK = """
vim.wait(60000, function() return #vim.diagnostic.get(0) > 0 end)
local function ask(what, line, character)
  local where = {textDocument = {uri = vim.uri_from_bufnr(0)}, position = {line = line, character = character}}
  for _, answer in pairs(vim.lsp.buf_request_sync(0, what, where, 30000)) do return answer.result end
end
local offered = {}
for _, item in ipairs(ask("textDocument/completion", 2, 9).items) do table.insert(offered, item.label) end
local hover = ask("textDocument/hover", 0, 34).contents.value
io.stdout:write(vim.fn.json_encode({diagnostics = vim.diagnostic.get(0), hover = hover, offered = offered}))
vim.cmd("qa!")
"""


def _setups() -> tuple[str, str]:
    """Return the Lua of the page: for 0.11 and newer, and for older ones."""
    blocks = re.findall(r"```lua\n(.*?)```", _PAGE.read_text("utf-8"), re.DOTALL)
    newer, older = blocks
    return newer, older


@pytest.mark.skipif(shutil.which("nvim") is None, reason="Neovim is not installed")
def test_the_setup_of_the_page(tmp_path: Path) -> None:
    said = subprocess.run(["nvim", "--version"], capture_output=True, text=True, check=True).stdout
    version = tuple(map(int, re.findall(r"\d+", said)[:2]))
    newer, older = _setups()
    # The command of this environment in place of the one that an installation has.
    started = json.dumps([sys.executable, "-m", "sqlext.cli.main", "lsp"]).replace("[", "{").replace("]", "}")
    setup = (newer if version >= (0, 11) else older).replace('{"sqlext", "lsp"}', started)
    assert started in setup
    (tmp_path / "init.lua").write_text(setup, "utf-8")
    (tmp_path / "ask.lua").write_text(_ASK, "utf-8")
    (tmp_path / "a.sql").write_text(SCRIPT, "utf-8")
    (tmp_path / ".git").mkdir()
    command = ["nvim", "--headless", "-u", "init.lua", "a.sql", "-c", "luafile ask.lua"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120)
    told = json.loads(done.stdout)
    (wrong,) = told["diagnostics"]
    assert (wrong["code"], wrong["lnum"], wrong["col"], wrong["end_col"]) == ("NAME-003", 2, 7, 10)
    assert wrong["message"] == "there is no column `itm`\nhint: did you mean `item`?"
    assert "ts TIMESTAMP(3) *ROWTIME*" in told["hover"]
    assert "item" in told["offered"]
