// Cells that begin with %%sqlext are shown as SQL. The server, the kernel and what is saved do not change.
import { IEditorLanguageRegistry } from "@jupyterlab/codemirror";
import { INotebookTracker } from "@jupyterlab/notebook";
import { MIME, isOurs, language } from "./language.js";

// What is used of JupyterLab's classes.
interface Signal<T> {
  connect(slot: (sender: unknown, args: T) => void): void;
}
interface Cell {
  type: string;
  mimeType: string;
  sharedModel: { getSource(): string };
  contentChanged: Signal<void>;
  mimeTypeChanged: Signal<unknown>;
}
interface Panel {
  content: { codeMimetype: string };
  context: { ready: Promise<void> };
  model: { cells: Iterable<Cell> & { changed: Signal<unknown> } } | null;
}
interface Tracker {
  forEach(each: (panel: Panel) => void): void;
  widgetAdded: { connect(slot: (sender: unknown, panel: Panel) => void): void };
}

const watched = new WeakSet<Cell>();

/** How often a cell's type is set again before its text changes: another extension may want another type. */
const MOST = 5;

/** Give a cell the type of what it holds, now and whenever its text changes or the notebook gives it another type. */
function watch(panel: Panel, cell: Cell): void {
  if (cell.type !== "code" || watched.has(cell)) return;
  watched.add(cell);
  let left = MOST;
  const settle = (): void => {
    const usual = panel.content.codeMimetype;
    const ours = isOurs(cell.sharedModel.getSource());
    // A type that is neither the notebook's nor ours is another extension's, such as jupyterlab-lsp's: it stays.
    if (ours && cell.mimeType === usual && left > 0) {
      left -= 1;
      cell.mimeType = MIME;
    } else if (!ours && cell.mimeType === MIME) {
      cell.mimeType = usual;
    }
  };
  cell.contentChanged.connect(() => {
    left = MOST;
    settle();
  });
  cell.mimeTypeChanged.connect(settle);
  settle();
}

async function follow(panel: Panel): Promise<void> {
  await panel.context.ready;
  const cells = panel.model?.cells;
  if (!cells) return;
  const watchAll = (): void => {
    for (const cell of cells) watch(panel, cell);
  };
  cells.changed.connect(watchAll);
  watchAll();
}

export default {
  id: "sqlext-cells:plugin",
  description: "Colours of cells that begin with %%sqlext.",
  autoStart: true,
  requires: [IEditorLanguageRegistry, INotebookTracker],
  activate: (_app: unknown, languages: { addLanguage(spec: object): void }, notebooks: Tracker): void => {
    languages.addLanguage({ name: "sqlext", displayName: "Streaming SQL (sqlext)", mime: MIME, load: language });
    notebooks.forEach((panel) => void follow(panel));
    notebooks.widgetAdded.connect((_, panel) => void follow(panel));
  },
};
