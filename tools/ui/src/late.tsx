// How many rows are late over the delay of the watermark, by uPlot: between the two lines lies the share.
import { useEffect, useRef } from "preact/hooks";
import uPlot from "uplot";
import type { Lateness } from "./api";
import { span } from "./texts";

const css = (name: string) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const powers = (least: number) => Array.from({ length: Math.round(-Math.log10(least)) + 1 }, (_, n) => least * 10 ** n);
const percent = (share: number) => `${Number((100 * share).toPrecision(2))}%`;

export function LateCurve({ late, theme }: { late: Lateness; theme: string }) {
  const place = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const shown = useRef(late);
  shown.current = late;
  // Delays stand at equal distances: they grow by steps of a quarter. No row at all is drawn at the lower edge.
  const floor = 10 ** Math.floor(Math.log10(1 / Math.max(late.rows, 10)));
  const edge = useRef(floor);
  edge.current = floor;
  const drawn = (shares: number[]) => shares.map((s) => Math.max(s, floor));
  const data = [late.delay.map((_, n) => n), drawn(late.at_most), drawn(late.at_least)] as uPlot.AlignedData;

  useEffect(() => {
    const axis = { stroke: css("--quiet"), grid: { stroke: css("--line"), width: 1 }, ticks: { show: false }, font: "11px system-ui, sans-serif" };
    const line = (label: string, color: string, dash?: number[]) => ({ label, stroke: css(color), width: 1.5, dash, points: { show: false }, paths: uPlot.paths.stepped!({ align: 1 }) });
    const options: uPlot.Options = {
      width: place.current!.clientWidth || 300,
      height: 160,
      padding: [12, 22, 0, 0],
      legend: { show: false },
      cursor: { y: false, points: { size: 5 } },
      scales: {
        x: { time: false, range: (_u, low, high) => [low, Math.max(high, low + 1)] },
        y: { distr: 3, range: () => [edge.current, 1] },
      },
      axes: [
        { ...axis, space: 60, size: 24, incrs: [1, 2, 5, 10, 20, 50], values: (_u, marks) => marks.map((n) => (Number.isInteger(n) && n in shown.current.delay ? span(shown.current.delay[n]) : "")) },
        { ...axis, size: 58, splits: () => powers(edge.current), values: (_u, marks) => marks.map((v) => (v <= edge.current ? "none" : percent(v))) },
      ],
      series: [{}, line("at most", "--warn"), line("at least", "--c1")],
      bands: [{ series: [1, 2], fill: `${css("--warn")}33` }],
      hooks: {
        draw: [(u) => {
          const x = u.valToPos(shown.current.delay.indexOf(shown.current.declared), "x", true);
          u.ctx.save();
          u.ctx.strokeStyle = css("--quiet");
          u.ctx.setLineDash([4, 4]);
          u.ctx.beginPath();
          u.ctx.moveTo(x, u.bbox.top);
          u.ctx.lineTo(x, u.bbox.top + u.bbox.height);
          u.ctx.stroke();
          u.ctx.restore();
        }],
      },
    };
    plot.current = new uPlot(options, data, place.current!);
    const watcher = new ResizeObserver(() => plot.current?.setSize({ width: place.current!.clientWidth, height: 160 }));
    watcher.observe(place.current!);
    return () => { watcher.disconnect(); plot.current?.destroy(); plot.current = null; };
  }, [theme]);

  useEffect(() => { plot.current?.setData(data); });

  const now = late.at_most[late.delay.indexOf(late.declared)];
  return (
    <figure class="chart late">
      <figcaption>
        <b>{late.input}</b>
        <span class="keys">
          <span><i style={{ background: "var(--warn)" }} />at most</span>
          <span><i style={{ background: "var(--c1)" }} />at least</span>
          <span>dashed: declared <b>{span(late.declared)}</b></span>
        </span>
      </figcaption>
      <div ref={place} role="img" aria-label={`Late rows of ${late.input} over the delay: with the declared ${span(late.declared)} at most ${percent(now)}`} />
    </figure>
  );
}
