// Starts `sqlext lsp` and hands it what the settings say. All answers are the server's.
import * as vscode from "vscode";
import { LanguageClient } from "vscode-languageclient/node";

let client: LanguageClient | undefined;

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  const settings = vscode.workspace.getConfiguration("sqlext");
  const [command, ...before] = settings.get<string[]>("command", ["sqlext"]);
  const allowed = settings.get<string[]>("allow", []).flatMap((kind) => ["--allow", kind]);
  const cwd = vscode.workspace.workspaceFolders?.[0]?.uri.fsPath;
  context.subscriptions.push(vscode.commands.registerCommand("sqlext.run", run));
  client = new LanguageClient(
    "sqlext",
    "sqlext",
    { command, args: [...before, "lsp", ...allowed], options: { cwd } },
    {
      documentSelector: [{ language: "sqlext" }],
      initializationOptions: {
        catalog: settings.get("catalog"),
        variables: settings.get("variables"),
        init: settings.get("init"),
        run: true,
      },
    },
  );
  await client.start();
}

export async function deactivate(): Promise<void> {
  await client?.stop();
}

function run(uri?: string): void {
  const file = uri ? vscode.Uri.parse(uri) : vscode.window.activeTextEditor?.document.uri;
  if (file === undefined) {
    return;
  }
  const settings = vscode.workspace.getConfiguration("sqlext", file);
  const variables = Object.entries(settings.get<Record<string, string>>("variables", {}));
  const [command, ...before] = settings.get<string[]>("command", ["sqlext"]);
  // A terminal without a shell in between: no character of a path or value has a meaning of its own.
  const shellArgs = [
    ...before,
    "run",
    file.fsPath,
    "--catalog",
    settings.get<string>("catalog", ".sqlext"),
    ...variables.flatMap(([name, value]) => ["-d", `${name}=${value}`]),
  ];
  vscode.window.createTerminal({ name: "sqlext run", shellPath: command, shellArgs }).show();
}
