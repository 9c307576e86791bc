// How a query went, as charts by uPlot.
import { useEffect, useRef } from "preact/hooks";
import uPlot from "uplot";
import type { Series } from "./api";
import { short, size, span } from "./texts";

export interface Line { label: string; color: string; values: (number | null)[]; bars?: boolean }
interface ChartProps { title: string; at: number[]; lines: Line[]; from: number; to: number; text: (v: number) => string; stacked?: boolean; theme: string }

// There is no half of a row.
const WHOLE = Array.from({ length: 10 }, (_, n) => [1, 2, 5].map((step) => step * 10 ** n)).flat();

const css = (name: string) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

function stacked(lines: Line[]): Line[] {
  const sums: (number | null)[] = [];
  return lines.map((line) => ({
    ...line,
    values: line.values.map((v, n) => (v === null ? null : (sums[n] = (sums[n] ?? 0) + v))),
  })).reverse();
}

function Chart({ title, at, lines, from, to, text, stacked: sums, theme }: ChartProps) {
  const place = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const drawn = sums ? stacked(lines) : lines;
  const data = [at.map((ms) => ms / 1000), ...drawn.map((l) => l.values)] as uPlot.AlignedData;
  const range = useRef<[number, number]>([from, to]);
  range.current = [from / 1000, to / 1000];
  const whole = drawn.some((line) => line.bars);
  const shape = `${theme}|${drawn.map((l) => l.label).join(",")}`;

  useEffect(() => {
    const axis = { stroke: css("--quiet"), grid: { stroke: css("--line"), width: 1 }, ticks: { show: false }, font: "11px system-ui, sans-serif" };
    const options: uPlot.Options = {
      width: place.current!.clientWidth || 300,
      height: 132,
      padding: [8, 22, 0, 0],
      legend: { show: false },
      cursor: { y: false, points: { size: 5 }, sync: { key: "sqlext" } },
      scales: {
        x: { time: true, range: () => range.current },
        y: { range: (_u, _low, high) => [0, Math.max(high ?? 0, 1) * 1.1] },
      },
      axes: [
        { ...axis, values: (_u, marks) => marks.map((s) => hours(s, range.current)), space: 70, size: 24 },
        { ...axis, size: 58, space: 30, incrs: whole ? WHOLE : undefined, values: (_u, marks) => marks.map(text) },
      ],
      series: [
        {},
        ...drawn.map((line) => {
          const color = css(line.color);
          const area = sums ? color : `${color}22`;
          return line.bars
            ? { label: line.label, stroke: color, fill: color, paths: uPlot.paths.bars!({ size: [0.9, 14, 2] }), points: { show: false } }
            : { label: line.label, stroke: color, width: sums ? 0 : 1.5, fill: area, points: { show: false }, spanGaps: Boolean(sums) };
        }),
      ],
    };
    plot.current = new uPlot(options, data, place.current!);
    const watcher = new ResizeObserver(() => plot.current?.setSize({ width: place.current!.clientWidth, height: 132 }));
    watcher.observe(place.current!);
    return () => { watcher.disconnect(); plot.current?.destroy(); plot.current = null; };
  }, [shape]);

  useEffect(() => { plot.current?.setData(data); });

  const last = lines.map((l) => `${l.label} ${lastOf(l, text)}`).join(", ");
  return (
    <figure class="chart">
      <figcaption>
        <b>{title}</b>
        <span class="keys">
          {lines.map((l) => <span key={l.label}><i style={{ background: `var(${l.color})` }} />{l.label} <b>{lastOf(l, text)}</b></span>)}
        </span>
      </figcaption>
      <div ref={place} role="img" aria-label={`${title}: now ${last || "nothing"}`} />
    </figure>
  );
}

function lastOf(line: Line, text: (v: number) => string): string {
  if (line.bars) return text(line.values.reduce<number>((sum, v) => sum + (v ?? 0), 0));
  for (let n = line.values.length - 1; n >= 0; n -= 1) {
    const value = line.values[n];
    if (value !== null && value !== undefined) return text(value);
  }
  return "–";
}

function hours(seconds: number, [from, to]: [number, number]): string {
  const seen = to - from > 600 ? { hour: "2-digit", minute: "2-digit" } : { hour: "2-digit", minute: "2-digit", second: "2-digit" };
  return new Intl.DateTimeFormat("sv-SE", seen as Intl.DateTimeFormatOptions).format(seconds * 1000);
}

const PARTS: [string, string][] = [
  ["addBatch", "run"], ["queryPlanning", "plan"], ["walCommit", "log"], ["commitOffsets", "commit"], ["latestOffset", "look"],
];
const COLORS = ["--c1", "--c2", "--c3", "--c4", "--c5", "--c6"];

export function Charts({ series, from, to, theme }: { series: Series; from: number; to: number; theme: string }) {
  const { at } = series;
  // Areas go on over moments without a micro-batch; where nothing ran they end.
  const parts = PARTS.filter(([key]) => series.parts[key]).map(([key, label], n) => ({ label, color: COLORS[n], values: series.parts[key].map((v, n) => (series.ran[n] ? v : 0)) }));
  const common = { at, from, to, theme };
  const ms = (v: number) => span(v);
  return (
    <div class="charts">
      <Chart {...common} title="Rows a second" text={short} lines={[{ label: "in", color: "--c1", values: series.rows_in }, { label: "out", color: "--c2", values: series.rows_out }]} />
      <Chart {...common} title="Watermark behind the clock" text={ms} lines={[{ label: "lag", color: "--c3", values: series.lag }]} />
      <Chart {...common} title="Time of a micro-batch" text={ms} stacked lines={parts} />
      <Chart {...common} title="Open windows and groups" text={short} lines={[{ label: "open", color: "--c4", values: series.state_rows }]} />
      <Chart {...common} title="Memory of state" text={(v) => size(Math.round(v))} lines={[{ label: "memory", color: "--c5", values: series.state_bytes }]} />
      <Chart {...common} title="Rows that went aside" text={short} lines={[
        { label: "dropped", color: "--bad", values: series.dropped, bars: true },
        { label: "late, kept", color: "--warn", values: series.late, bars: true },
        { label: "not readable", color: "--c6", values: series.bad, bars: true },
      ]} />
    </div>
  );
}
