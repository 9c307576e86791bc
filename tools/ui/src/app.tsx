// The page: the queries at the side, one of them in full. It shows what the server says and decides nothing.
import { render } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import "uplot/dist/uPlot.min.css";
import "./app.css";
import { type Card, type LastRows, type Lateness, type Refusal, type Series, type View, history, lastRows, lateness, stop } from "./api";
import { Charts } from "./charts";
import { LateCurve } from "./late";
import { Plan } from "./plan";
import { clock, count, moment, short, shortName, size, span, when } from "./texts";

const SPANS: [string, number][] = [["5 min", 300_000], ["1 h", 3_600_000], ["24 h", 86_400_000]];
const TOKEN = "sqlext-token";

// The link with the token is opened once; what stands behind # never reaches a server.
const parameters = new URLSearchParams(location.hash.slice(1));
if (parameters.has("token")) {
  sessionStorage.setItem(TOKEN, parameters.get("token")!);
  parameters.delete("token");
  window.history.replaceState(null, "", `#${parameters}`);
}

function useSelected(): [string | null, (name: string) => void] {
  const read = () => new URLSearchParams(location.hash.slice(1)).get("query");
  const [name, setName] = useState(read);
  useEffect(() => {
    const changed = () => setName(read());
    addEventListener("hashchange", changed);
    return () => removeEventListener("hashchange", changed);
  }, []);
  return [name, (chosen) => { location.hash = new URLSearchParams({ query: chosen }).toString(); }];
}

function useTheme(): [string, () => void] {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const [chosen, setChosen] = useState(localStorage.getItem("sqlext-theme"));
  const [system, setSystem] = useState(dark.matches);
  useEffect(() => {
    const changed = () => setSystem(dark.matches);
    dark.addEventListener("change", changed);
    return () => dark.removeEventListener("change", changed);
  }, []);
  const theme = chosen ?? (system ? "dark" : "light");
  document.documentElement.dataset.theme = theme;
  return [theme, () => {
    const other = theme === "dark" ? "light" : "dark";
    localStorage.setItem("sqlext-theme", other);
    setChosen(other);
  }];
}

function useNarrow(): boolean {
  const query = matchMedia("(max-width: 760px)");
  const [narrow, setNarrow] = useState(query.matches);
  useEffect(() => {
    const changed = () => setNarrow(query.matches);
    query.addEventListener("change", changed);
    return () => query.removeEventListener("change", changed);
  }, []);
  return narrow;
}

interface News { cards: Card[] | null; view: View | null; gone: Refusal | null; damaged: Refusal | null; away: number | null; live: boolean }

// What the server says of all queries, and of the one with this name; `away` is since when it says nothing.
function useNews(name: string | null): News {
  const [news, setNews] = useState<News>({ cards: null, view: null, gone: null, damaged: null, away: null, live: false });
  const add = (more: Partial<News>) => setNews((before) => ({ ...before, ...more }));
  useEffect(() => {
    let source: EventSource;
    let again: ReturnType<typeof setTimeout> | undefined;
    const open = () => {
      source = new EventSource(`/api/events${name ? `?${new URLSearchParams({ name })}` : ""}`);
      source.onopen = () => add({ live: true, away: null });
      source.onerror = () => {
        setNews((before) => ({ ...before, live: false, away: before.away ?? Date.now() }));
        // A browser tries again by itself, but not after an answer that is no stream.
        if (source.readyState === EventSource.CLOSED) again = setTimeout(open, 2000);
      };
      source.addEventListener("queries", (e) => add({ cards: JSON.parse(e.data).queries, damaged: null }));
      source.addEventListener("query", (e) => add({ view: JSON.parse(e.data), gone: null }));
      source.addEventListener("gone", (e) => add({ view: null, gone: JSON.parse(e.data) }));
      source.addEventListener("damaged", (e) => add({ damaged: JSON.parse(e.data) }));
    };
    add({ view: null, gone: null });
    open();
    return () => { source.close(); clearTimeout(again); };
  }, [name]);
  return news;
}

function App() {
  const [selected, select] = useSelected();
  const [theme, switchTheme] = useTheme();
  // Without a choice the first one stays while it is there, also when others come before it.
  const [first, setFirst] = useState<string | null>(null);
  const name = selected ?? first;
  const { cards, view, gone, damaged, away, live } = useNews(name);
  if (cards && !cards.some((c) => c.name === first)) {
    const next = cards[0]?.name ?? null;
    if (next !== first) setFirst(next);
  }

  const running = cards?.filter((c) => c.state === "running").length ?? 0;
  document.title = cards ? `${running} running · sqlext` : "sqlext";
  return (
    <>
      <header class="top">
        <img src="/static/icon.svg" alt="" width="26" height="26" />
        <h1>sqlext</h1>
        <span class={`live ${live ? "on" : "off"}`} role="status">{live ? "live" : "connecting…"}</span>
        <button type="button" class="plain" onClick={switchTheme} aria-label={`Switch to ${theme === "dark" ? "light" : "dark"}`}>
          {theme === "dark" ? "☀" : "☾"}
        </button>
      </header>
      {away !== null && <Away since={away} />}
      {damaged && <Refused what={damaged} />}
      {cards?.length === 0 ? <Empty /> : (
        <div class={`columns ${away !== null || damaged ? "old" : ""}`}>
          <Queries cards={cards ?? []} name={name} select={select} />
          <main>
            {gone && <Refused what={gone} />}
            {!gone && (view ? <Detail key={view.card.name} view={view} theme={theme} /> : <p class="quiet">Reading…</p>)}
          </main>
        </div>
      )}
    </>
  );
}

function Away({ since }: { since: number }) {
  return (
    <div class="notice warn wide away" role="alert">
      The server has not answered since {clock(since)}. What is shown is from then. It goes on by itself when the server is back at this address.
    </div>
  );
}

function Refused({ what }: { what: Refusal }) {
  return (
    <div class="notice bad wide" role="alert">
      <b>{what.code}</b> <Ticked text={what.message} />
      {what.hint && <div class="quiet"><Ticked text={what.hint} /></div>}
    </div>
  );
}

function Empty() {
  return (
    <main class="empty">
      <svg width="120" height="72" viewBox="0 0 120 72" aria-hidden="true"><path d="M8 24c18-20 34-20 52 0s34 20 52 0M8 48c18-20 34-20 52 0s34 20 52 0" /></svg>
      <h2>No query has run in this catalog yet</h2>
      <p>Start one, and it appears here by itself:</p>
      <pre><code>sqlext run job.sql</code></pre>
      <p class="quiet">The catalog is the folder given by <code>--catalog</code>, else <code>.sqlext</code>.</p>
    </main>
  );
}

function Queries({ cards, name, select }: { cards: Card[]; name: string | null; select: (name: string) => void }) {
  return (
    <nav aria-label="Queries">
      <ul>
        {cards.map((card) => (
          <li key={card.name}>
            <button type="button" class="query" aria-current={card.name === name ? "true" : undefined} onClick={() => select(card.name)}>
              <span class="name" title={card.name}>{card.name}</span>
              <State card={card} />
              <span class="facts quiet">
                {card.state === "running"
                  ? <>{short(card.rate)} rows/s{card.lag !== null && <> · lag {span(card.lag)}</>}</>
                  : <>{short(card.rows_in)} rows{card.at && <> · {moment(card.at).slice(5, 16)}</>}</>}
              </span>
              {card.idle.length > 0 && <span class="pill idle">{card.idle.join(", ")} idle</span>}
              {card.rows_dropped > 0 && <span class="pill late">{short(card.rows_dropped)} late</span>}
            </button>
          </li>
        ))}
      </ul>
    </nav>
  );
}

function State({ card }: { card: Card }) {
  return <span class={`state ${card.state}`}>{card.state}</span>;
}

function Detail({ view, theme }: { view: View; theme: string }) {
  const { card } = view;
  const narrow = useNarrow();
  const rows = useLastRows(card);
  return (
    <>
      <div class="title">
        <h2>{card.name}</h2>
        <State card={card} />
        <span class="quiet">{card.started && <>since {moment(card.started)}</>}{!card.here && card.state === "running" && " · another process"}</span>
        <Actions card={card} />
      </div>
      <Notices card={card} />
      <Tiles card={card} zone={view.zone} />
      <section aria-labelledby="plan"><h3 id="plan">Plan</h3><Plan view={view} down={narrow} /></section>
      <div class="pair">
        <section aria-labelledby="why"><h3 id="why">Why nothing comes out now</h3><Why text={view.why} /></section>
        <div class="stack">
          <section aria-labelledby="windows"><h3 id="windows">Open windows</h3><Windows view={view} /></section>
          {view.inputs.length > 0 && <section aria-labelledby="inputs"><h3 id="inputs">Inputs</h3><Inputs view={view} /></section>}
        </div>
      </div>
      <Past card={card} theme={theme} />
      <Late card={card} theme={theme} />
      <section aria-labelledby="rows"><h3 id="rows">Last rows of {shortName(card.writes) || "the result"}</h3><Rows rows={rows} /></section>
      <section aria-labelledby="statement"><h3 id="statement">Statement</h3><Statement card={card} /></section>
    </>
  );
}

function Actions({ card }: { card: Card }) {
  const [said, setSaid] = useState("");
  const [asking, setAsking] = useState(false);
  const token = sessionStorage.getItem(TOKEN);
  const runs = card.state === "running";
  const end = async () => {
    setAsking(false);
    setSaid((await stop(card.name, token!)) ?? "stopping…");
  };
  return (
    <span class="actions">
      <span role="status" class="quiet">{runs ? said : ""}</span>
      {runs && token && !asking && <button type="button" onClick={() => setAsking(true)}>Stop</button>}
      {runs && token && asking && (
        <>
          <button type="button" class="danger" onClick={end}>Stop job {card.job}</button>
          <button type="button" onClick={() => setAsking(false)}>Keep it</button>
        </>
      )}
      {runs && !token && <span class="quiet" title="The link that was printed at the start has the right to stop queries.">read-only</span>}
    </span>
  );
}

function Notices({ card }: { card: Card }) {
  return (
    <>
      {card.failure && (
        <div class="notice bad" role="alert">
          <b>{card.failure.code}</b> <Ticked text={card.failure.message} />
          {card.failure.line !== null && <span class="quiet"> (line {card.failure.line})</span>}
          {card.failure.hint && <div class="quiet"><Ticked text={card.failure.hint} /></div>}
        </div>
      )}
      {card.warnings.map((text) => <div key={text} class="notice warn"><Ticked text={text} /></div>)}
      {card.state === "lost" && <div class="notice bad" role="alert">Its driver is gone and has not said how it ended. The same statement goes on where it was.</div>}
      {card.idle.length > 0 && <div class="notice warn">{card.idle.join(" and ")} {card.idle.length > 1 ? "give" : "gives"} no rows: idle, so it holds nobody back.</div>}
      {card.held.length > 0 && <div class="notice warn">{card.held.join(" and ")} {card.held.length > 1 ? "wait" : "waits"} for slower inputs (alignment).</div>}
    </>
  );
}

function Tiles({ card, zone }: { card: Card; zone: string }) {
  const tiles: [string, string, string][] = [
    ["rows in", short(card.rows_in), card.state === "running" ? `${short(card.rate)} a second` : ""],
    ["rows out", short(card.rows_out), ""],
    ["watermark", clock(card.watermark, zone), card.lag !== null ? `${span(card.lag)} behind` : ""],
    ["micro-batch", card.batch ? span(card.batch_ms) : "–", `${count(card.batch)} done`],
    ["state", short(card.state_rows), size(card.state_bytes)],
    ["late", short(card.rows_dropped + card.rows_late), card.rows_late ? `${short(card.rows_late)} of them kept` : "rows dropped"],
    ["not readable", short(card.rows_bad), "rows"],
    // Few queries have a table for them.
    ...(card.dead_letters ? [["dead letters", short(card.dead_letters), "REPLAY feeds them back"] as [string, string, string]] : []),
  ];
  return (
    <dl class="tiles">
      {tiles.map(([name, value, more]) => (
        <div key={name} class={name === "late" && card.rows_dropped > 0 ? "warn" : ""}>
          <dt>{name}</dt><dd>{value}</dd><span class="quiet">{more || "\u00a0"}</span>
        </div>
      ))}
    </dl>
  );
}

function Why({ text }: { text: string }) {
  const lines = text.split("\n");
  return (
    <div class="why">
      {lines.filter((l) => !l.startsWith("- ")).map((line, n) => <p key={n}><Ticked text={line} /></p>)}
      <ul>{lines.filter((l) => l.startsWith("- ")).map((line, n) => <li key={n}><Ticked text={line.slice(2)} /></li>)}</ul>
    </div>
  );
}

function Ticked({ text }: { text: string }) {
  return <>{text.split("`").map((part, n) => (n % 2 ? <code key={n}>{part}</code> : part))}</>;
}

function Windows({ view }: { view: View }) {
  const { windows, card, zone } = view;
  if (windows.length === 0) {
    return <p class="quiet">{card.state === "running" ? "No window is known that waits for the watermark." : "No window is open while the query does not run."}</p>;
  }
  return (
    <>
      <table>
        <thead><tr><th>ends at</th><th>needs a row of</th><th>closes in about</th></tr></thead>
        <tbody>
          {windows.map((w) => (
            <tr key={w.end}>
              <td>{when(w.end, zone)}</td>
              <td>{when(Math.max(...Object.values(w.needs)), zone)}</td>
              <td>{w.expected !== null ? (w.expected > Date.now() ? span(w.expected - Date.now()) : "now") : w.closes_at !== null ? `at ${when(w.closes_at)}, by the clock` : "the watermark stands"}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <p class="quiet">{count(card.state_rows)} groups are open. Event times of {zone}{view.session_windows ? ". The first is the newest session" : ""}.</p>
    </>
  );
}

function Inputs({ view }: { view: View }) {
  const { inputs, zone } = view;
  const split = inputs.some((i) => i.split !== null);
  return (
    <div class="scroll inputs" tabIndex={0} role="group" aria-label="Inputs">
      <table>
        <thead><tr><th>input</th>{split && <th>split</th>}<th>largest event time</th><th class="number">rows</th><th /></tr></thead>
        <tbody>
          {inputs.map((i) => (
            <tr key={`${i.input} ${i.split}`}>
              <td>{i.input}</td>
              {split && <td>{i.split}</td>}
              <td>{when(i.largest, zone)}</td>
              <td class="number">{count(i.rows)}</td>
              <td>
                {i.idle_since !== null && <span class="pill idle">idle since {when(i.idle_since)}</span>}
                {i.held && <span class="pill held">held</span>}
                {i.holds && <span class="quiet">holds the query back</span>}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Past({ card, theme }: { card: Card; theme: string }) {
  const [span_, setSpan] = useState(300_000);
  const [series, setSeries] = useState<Series | null>(null);
  const [refused, setRefused] = useState("");
  const end = card.state === "running" ? Date.now() : (card.at ?? Date.now());
  const asked = useRef(0);
  const every = span_ > 3_600_000 ? 30_000 : span_ > 300_000 ? 5000 : 2000;
  useEffect(() => {
    let over = false;
    const ask = async () => {
      const until = card.state === "running" ? Date.now() : (card.at ?? Date.now());
      asked.current = Date.now();
      try {
        const found = await history(card.name, until - span_);
        if (!over) { setSeries(found); setRefused(""); }
      } catch (error) { // what was seen stays
        if (!over) setRefused((error as Error).message);
      }
    };
    ask();
    const timer = setInterval(ask, every);
    return () => { over = true; clearInterval(timer); };
  }, [card.name, card.state, span_]);
  return (
    <section aria-labelledby="past">
      <div class="line">
        <h3 id="past">How it went</h3>
        <div role="group" aria-label="Time span" class="choice">
          {SPANS.map(([label, ms]) => <button key={ms} type="button" aria-pressed={ms === span_} onClick={() => setSpan(ms)}>{label}</button>)}
        </div>
      </div>
      {series && series.at.length > 0
        ? <Charts series={series} from={end - span_} to={end} theme={theme} />
        : <p class="quiet">{series ? "Nothing has happened in this time." : refused || "Reading…"}</p>}
    </section>
  );
}

function Late({ card, theme }: { card: Card; theme: string }) {
  const [inputs, setInputs] = useState<Lateness[]>([]);
  const step = card.state === "running" ? Math.floor(Date.now() / 5000) : 0;
  useEffect(() => {
    let over = false;
    lateness(card.name).then((found) => { if (!over) setInputs(found.inputs); }, () => { /* what was seen stays */ });
    return () => { over = true; };
  }, [card.name, card.state, step]);
  if (inputs.length === 0) return null;
  return (
    <section aria-labelledby="late">
      <h3 id="late">Late rows over the delay</h3>
      <div class="charts">{inputs.map((i) => (
        <div key={i.input}>
          <LateCurve late={i} theme={theme} />
          <p class="quiet"><Ticked text={i.text} /></p>
        </div>
      ))}</div>
    </section>
  );
}

function useLastRows(card: Card): LastRows | null {
  const [rows, setRows] = useState<LastRows | null>(null);
  const step = Math.floor(Date.now() / 3000);
  useEffect(() => {
    let over = false;
    const refused = (error: Error) => setRows((before) => before ?? { table: "", columns: [], rows: [], why: error.message });
    lastRows(card.name).then((found) => { if (!over) setRows(found); }, (error) => { if (!over) refused(error); });
    return () => { over = true; };
  }, [card.name, card.rows_out, card.state, card.state === "running" ? step : 0]);
  return rows;
}

function Rows({ rows }: { rows: LastRows | null }) {
  if (rows === null) return <p class="quiet">Reading…</p>;
  if (rows.rows.length === 0) return <p class="quiet">{rows.why}</p>;
  const numbers = rows.columns.map((_, n) => rows.rows.every((r) => r[n] === null || typeof r[n] === "number"));
  return (
    <div class="scroll rows" tabIndex={0} role="group" aria-label="Last rows">
      <table>
        <thead><tr>{rows.columns.map((c, n) => <th key={c} class={numbers[n] ? "number" : ""}>{c}</th>)}</tr></thead>
        <tbody>
          {[...rows.rows].reverse().map((row, n) => (
            <tr key={n}>{row.map((v, m) => <td key={m} class={numbers[m] ? "number" : ""}>{v === null ? <span class="quiet">NULL</span> : String(v)}</td>)}</tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Statement({ card }: { card: Card }) {
  const [copied, setCopied] = useState(false);
  const copy = async () => {
    await navigator.clipboard.writeText(card.statement);
    setCopied(true);
    setTimeout(() => setCopied(false), 2000);
  };
  if (!card.statement) return <p class="quiet">A SELECT keeps no statement.</p>;
  return (
    <div class="statement">
      <button type="button" onClick={copy}>{copied ? "Copied" : "Copy"}</button>
      <pre tabIndex={0}><code>{card.statement}</code></pre>
    </div>
  );
}

render(<App />, document.getElementById("app")!);
