"""Keep the documents of a project: what they share, what their names mean in all of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from weakref import WeakKeyDictionary

from sqlext.errors import SqlExtError
from sqlext.locations import local_file
from sqlext.policy import OPEN, Policy
from sqlext.quoting import identifier
from sqlext.rewrite.export.printed import printed_script
from sqlext.session.editing.documents import Document, DocumentFinding
from sqlext.session.editing.hovers import call_forms, function_text, note_at, option_text, relation_text
from sqlext.session.editing.names import Definition, Occurrence, Symbol, definitions, occurrences
from sqlext.session.editing.steps import ScriptStep, Surroundings
from sqlext.session.introspection.explain import explained
from sqlext.session.offline.checking import sql_files
from sqlext.session.offline.compilation import Path_, new_state, read_text
from sqlext.session.offline.editor import Candidate, candidates
from sqlext.source import SourceText
from sqlext_catalog.model import ObjectName


@dataclass(frozen=True, slots=True)
class DocumentRange:
    """The characters [start, end) of a document."""

    document: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Shown:
    """A text about the characters [start, end) of a document."""

    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class Calls:
    """How a function is called, and which argument is being written."""

    forms: Sequence[str]
    argument: int


@dataclass(frozen=True, slots=True)
class QueryPlace:
    """A statement that has a query, and where it stands."""

    start: int
    end: int
    index: int


class EditorProject:
    """Documents over one catalog; scripts of definitions are seen by all others. See ``project_of``.

    Args:
        start: what the first of them sees.
        variables: values of ``${NAME}``.
        init: the names of the scripts of definitions, which must be opened first.
        root: the folder whose scripts are looked through for a name of these.
        policy: is asked which of these scripts may be read.
    """

    def __init__(
        self,
        start: Surroundings,
        variables: Mapping[str, str],
        init: Sequence[str] = (),
        root: Path_ | None = None,
        policy: Policy = OPEN,
    ) -> None:
        self._policy = policy
        self._start, self._variables, self._init, self._root = start, dict(variables), init, root
        self._documents: dict[str, Document] = {}
        #: The names of steps, and the definitions that they were found by.
        self._found: WeakKeyDictionary[SourceText, tuple[dict[ObjectName, SourceText | None], list[Occurrence]]]
        self._found = WeakKeyDictionary()

    # Documents

    def open(self, name: str, text: str) -> None:
        """Take a document, or another version of it."""
        base = self._base(name)
        if name in self._documents:
            self._documents[name].update(text, base)
        else:
            self._documents[name] = Document(name, text, base, self._variables)

    def close(self, name: str) -> None:
        """Forget a document; a script of definitions is read from its file from now on."""
        if name in self._init:
            self.open(name, read_text(name))
        else:
            self._documents.pop(name, None)

    def document(self, name: str) -> Document:
        """Return a document that is open, with the definitions of others as they are now."""
        document = self._documents[name]
        document.update(document.text, self._base(name))
        return document

    def sees_changes_of(self, name: str) -> Iterator[str]:
        """Yield the open documents whose findings depend on another one."""
        if name in self._init:
            yield from (other for other in self._documents if other not in self._init)

    def _base(self, name: str) -> Surroundings:
        before = self._start
        for file in self._init:
            if file == name or file not in self._documents:
                break
            document = self._documents[file]
            document.update(document.text, before)
            before = document.after
        return before

    def findings(self, name: str) -> list[DocumentFinding]:
        """Return what is wrong with a document, what may not be meant, and which variables have no value."""
        return self.document(name).findings()

    # Words

    def candidates(self, name: str, offset: int) -> list[Candidate]:
        """Return what can stand at an offset, the likeliest first; each begins where it would be put in."""
        document = self.document(name)
        place = document.place(offset)
        if place is None:
            return candidates("", 0, self._base(name).state)
        # Before a statement another one can begin.
        text, at = (place.step.source.text, place.offset) if place.offset >= 0 else ("", 0)
        found = candidates(text, at, place.step.before.state)
        return [Candidate(c.text, offset - (at - c.start), c.kind) for c in found]

    def candidate_text(self, name: str, text: str, kind: str) -> str | None:
        """Return what there is to say of a candidate, in Markdown."""
        if kind == "function":
            return function_text(text)
        if kind == "option":
            return option_text(text.rstrip("'\""), is_setting=False) or option_text(text.rstrip("'\""), is_setting=True)
        document = self.document(name)
        if kind == "table" and len(document):
            step = document.step(len(document) - 1)
            relation = step.after.state.catalog.resolve(text.split("."))
            return relation_text(relation, step, step.after.state)
        return None

    def hover(self, name: str, offset: int) -> Shown | None:
        """Return what there is to say of the word at an offset, in Markdown."""
        document = self.document(name)
        place = document.place(offset)
        if place is None:
            return None
        note = note_at(place, self._names(place.step, name))
        if note is None:
            return None
        where = document.range_of(place.step, note.start, note.end)
        return Shown(*where, note.text) if where is not None else None

    def calls(self, name: str, offset: int) -> Calls | None:
        """Return how the function is called whose arguments stand at an offset."""
        place = self.document(name).place(offset)
        if place is None:
            return None
        open_calls: list[tuple[str, int]] = []
        before = ""
        for piece in place.step.pieces:
            if piece.start >= place.offset or piece.kind == "space":
                continue
            if piece.text == "(":
                open_calls.append((before, 0))
            elif piece.text == ")" and open_calls:
                open_calls.pop()
            elif piece.text == "," and open_calls:
                open_calls[-1] = (open_calls[-1][0], open_calls[-1][1] + 1)
            before = piece.text
        for function, argument in reversed(open_calls):
            forms = call_forms(function)
            if forms:
                return Calls(forms, argument)
        return None

    # Names

    def definition(self, name: str, offset: int) -> list[DocumentRange]:
        """Return where the name at an offset is defined; nothing for one that the catalog alone knows."""
        symbol = self._symbol(name, offset)
        if symbol is None:
            return []
        if symbol.relation is not None:
            known = self._known(name).get(symbol.relation)
            found = [] if known is None else [(known.step, known.statement.name_span.start)]
        else:
            found = [(step, symbol.offset) for step in self._steps(name) if step.source is symbol.source]
        names = ((step, o) for step, at in found for o in self._names(step, name) if o.defines and o.start >= at)
        return [r for r in (self._range(step, o, name) for step, o in names) if r is not None][:1]

    def references(self, name: str, offset: int) -> list[DocumentRange]:
        """Return where the name at an offset stands, its definition included."""
        symbol = self._symbol(name, offset)
        return list(self._everywhere(symbol, name)) if symbol is not None else []

    def name_at(self, name: str, offset: int) -> DocumentRange | None:
        """Return the name at an offset if it can be renamed."""
        if not any(self.definition(name, offset)):
            return None
        return next((r for r in self.references(name, offset) if r.document == name and _holds(r, offset)), None)

    def rename(self, name: str, offset: int, new: str) -> tuple[str, dict[str, list[DocumentRange]]]:
        """Return a name as it is written, and what it is to replace, by document, so that the name at an offset is it.

        Raises:
            SqlExtError: NAME-091 for what cannot be renamed: the scripts would have mistakes that they do not have.
        """
        places = self.references(name, offset)
        if not any(self.definition(name, offset)):
            raise SqlExtError("NAME-091", "this name is not defined in the scripts", hint="ALTER TABLE ... RENAME TO")
        written = identifier(new)
        by_document: dict[str, list[DocumentRange]] = {}
        for place in places:
            by_document.setdefault(place.document, []).append(place)
        trial = self._trial()
        for file in dict.fromkeys((*self._init, *by_document)):
            trial.open(file, _replaced(self._text(file), by_document.get(file, ()), written))
        for document in by_document:
            known = [f.code for f in self._opened(document).findings() if f.severity == "error"]
            wrong = [f for f in trial.findings(document) if f.severity == "error"]
            if sorted(f.code for f in wrong) != sorted(known):
                reason = next((f.message for f in wrong if f.code not in known), "a mistake would come or go")
                raise SqlExtError("NAME-091", f"with the name `{new}` the scripts would not be right: {reason}")
        return written, by_document

    def _trial(self) -> EditorProject:
        """Return a project like this one, whose documents may change; what was found in these is not lost."""
        trial = EditorProject(self._start, self._variables, self._init, self._root, self._policy)
        trial._documents = {name: document.copied() for name, document in self._documents.items()}
        return trial

    def looked_through(self, name: str) -> Iterator[None]:
        """Find the names of a document, a statement at a time, so that a question about them need not."""
        known = self._known(name)
        for step in self.document(name).steps():
            self._names(step, name, known)
            yield

    def _symbol(self, name: str, offset: int) -> Symbol | None:
        place = self.document(name).place(offset)
        if place is None:
            return None
        named = self._names(place.step, name)
        # Behind its last letter a name is meant too, unless another one begins there.
        inside = [o for o in named if o.start <= place.offset <= o.end]
        return max(inside, key=lambda o: o.start).symbol if inside else None

    def _everywhere(self, symbol: Symbol, name: str) -> Iterator[DocumentRange]:
        for other in self._related(symbol, name):
            document, known = self._opened(other), self._known(other)
            if document.is_template:
                continue
            # Most statements do not have the word, so they need not be walked through.
            for step in (step for step in document.steps() if symbol.word in step.words):
                meant = (o for o in self._names(step, other, known) if o.symbol == symbol)
                places = (document.range_of(step, o.start, o.end) for o in meant)
                yield from (DocumentRange(other, *where) for where in places if where is not None)

    def _related(self, symbol: Symbol, name: str) -> Iterable[str]:
        """Return the documents in which a symbol may stand."""
        if not self._is_shared(symbol):
            return [name]
        found = [*self._init, *self._documents]
        if self._root is not None:
            files = (str(file.resolve()) for file in sql_files([self._root]))
            # A link may lead out of the folder.
            found += [file for file in files if self._policy.place(file) is None]
        return dict.fromkeys(found)

    def _is_shared(self, symbol: Symbol) -> bool:
        if symbol.relation is not None:
            return symbol.relation in self._shared()
        return any(step.source is symbol.source for file in self._init for step in self._documents[file].steps())

    def _shared(self) -> dict[ObjectName, Definition]:
        steps = (step for file in self._init for step in self._documents[file].steps())
        return {name: found for step in steps for name, found in definitions(step)}

    def _known(self, name: str) -> dict[ObjectName, Definition]:
        """Return what a document and the scripts of definitions define."""
        return {relation: found for step in self._steps(name) for relation, found in definitions(step)}

    def _steps(self, name: str) -> Iterator[ScriptStep]:
        """Yield the steps of a document, behind those of the scripts of definitions."""
        for file in dict.fromkeys((*self._init, name)):
            yield from self._opened(file).steps()

    def _range(self, step: ScriptStep, found: Occurrence, name: str) -> DocumentRange | None:
        for file in (name, *self._init):
            where = self._opened(file).range_of(step, found.start, found.end)
            if where is not None:
                return DocumentRange(file, *where)
        return None

    def _names(
        self, step: ScriptStep, name: str, known: Mapping[ObjectName, Definition] | None = None
    ) -> Sequence[Occurrence]:
        """Return the names of a step; they are looked for again where a relation that it names is another one."""
        known = self._known(name) if known is None else known
        kept = self._found.get(step.source)
        if kept is None or any(_source_of(known.get(relation)) is not owner for relation, owner in kept[0].items()):
            asked: dict[ObjectName, SourceText | None] = {}

            def find(relation: ObjectName) -> Definition | None:
                definition = known.get(relation)
                asked[relation] = _source_of(definition)
                return definition

            kept = self._found[step.source] = asked, occurrences(step, find)
        return kept[1]

    def _opened(self, name: str) -> Document:
        if name not in self._documents:
            return Document(name, read_text(name), self._base(name), self._variables)
        return self.document(name)

    def _text(self, name: str) -> str:
        return self._documents[name].text if name in self._documents else read_text(name)

    # Queries

    def queries(self, name: str) -> list[QueryPlace]:
        """Return the statements of a document that have a query."""
        document = self.document(name)
        if document.is_template:
            return []
        found = []
        for index, step in enumerate(document.steps()):
            for checked in step.checked:
                where = document.range_of(step, checked.span.start, checked.span.end)
                if checked.compiled and where is not None:
                    found.append(QueryPlace(*where, index))
        return found

    def plan(self, name: str, index: int) -> str:
        """Return the plan of a statement's queries, as EXPLAIN shows it."""
        compiled = (c for checked in self.document(name).step(index).checked for c in checked.compiled)
        return "\n\n".join(explained(c.plan, c.script, "TEXT", c.insert) for c in compiled) + "\n"

    def spark_sql(self, name: str, index: int) -> str:
        """Return the Spark SQL that a statement's queries become."""
        step = self.document(name).step(index)
        compiled = (c for checked in step.checked for c in checked.compiled)
        return "\n\n".join(printed_script(c, step.after.state.settings.zone) for c in compiled) + "\n"


def project_of(
    catalog: Path_ | None = None,
    variables: Mapping[str, str] | None = None,
    init: Sequence[Path_] = (),
    root: Path_ | None = None,
    policy: Policy = OPEN,
) -> EditorProject:
    """Return a project over the catalog in a folder or at a URL.

    Args:
        catalog: None for one without tables.
        variables, root, policy: as in ``EditorProject``.
        init: scripts whose tables and views all others see, one after the other.

    Raises:
        SqlExtError: as ``new_state``, and RUN-011 for a script that cannot be read.
    """
    state = new_state(catalog).fork()
    # As for a run: what is there already may be defined again.
    state.created = set()
    files = [str(local_file(file).resolve()) for file in init]
    project = EditorProject(Surroundings.of(state), variables or {}, files, root, policy)
    for file in files:
        project.open(file, read_text(file))
    return project


def require_inside(places: Iterable[str], policy: Policy) -> None:
    """Refuse catalogs and scripts that an editor may not name.

    Raises:
        SqlExtError: RESTRICT-011.
    """
    for place in places:
        if policy.place(place) is not None:
            hint = f"start `sqlext lsp --allow path={place}`, or with --unrestricted"
            raise SqlExtError("RESTRICT-011", f"`{place}` lies outside of the project's folder", hint=hint)


def _source_of(definition: Definition | None) -> SourceText | None:
    return definition.step.source if definition is not None else None


def _holds(place: DocumentRange, offset: int) -> bool:
    return place.start <= offset <= place.end


def _replaced(text: str, places: Iterable[DocumentRange], new: str) -> str:
    for place in sorted(places, key=lambda p: p.start, reverse=True):
        text = f"{text[: place.start]}{new}{text[place.end :]}"
    return text
