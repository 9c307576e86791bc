// The plan as a graph: dagre places the steps.
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import dagre from "@dagrejs/dagre";
import type { View, PlanNode } from "./api";
import { clock, count, shortName, size } from "./texts";

// From the roomiest to the tightest: the first that fits is taken, and if none does the steps stand below one another.
const SIZES = [
  { width: 196, gap: 34 },
  { width: 176, gap: 24 },
  { width: 160, gap: 16 },
  { width: 138, gap: 12 },
];
// Of a step with as many facts as most have; one fact more needs a line more.
const HEIGHT = 104;
const LINE = 17;
const MOST = 3;

const TITLES: Record<string, string> = { AssignWindows: "Windows", Project: "Select", Scan: "Source" };

export function Plan({ view, down }: { view: View; down: boolean }) {
  const [room, setRoom] = useState(0);
  const frame = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const element = frame.current;
    if (element === null) return;
    const watcher = new ResizeObserver(() => setRoom(element.clientWidth));
    watcher.observe(element);
    setRoom(element.clientWidth);
    return () => watcher.disconnect();
  }, [view.nodes.length === 0]);
  if (view.nodes.length === 0) return <p class="quiet">The plan is known once the query was started by this version.</p>;
  const begun = view.card.at !== null;
  const facts = new Map(view.nodes.map((node) => [node.number, factsOf(node, view.zone, begun)]));
  const tall = HEIGHT + LINE * Math.max(0, ...[...facts.values()].map((found) => found.length - MOST));
  const tried = [...(down ? [] : SIZES.map((size) => [size, "LR"] as const)), ...SIZES.map((size) => [size, "TB"] as const)];
  const laid = tried.map(([size, rankdir]) => laidOut(view, size, tall, rankdir));
  const { graph, step } = laid.find(({ graph }) => graph.graph().width! <= room) ?? laid[laid.length - 1];
  const { width = 0, height = 0 } = graph.graph();
  const flows = view.card.state === "running" && view.card.rate > 0;
  const some = begun && view.nodes.some(isUncounted);
  return (
    <>
    <div class="scroll" ref={frame} tabIndex={0} role="group" aria-label="Plan of the query">
      <div class="plan" style={{ width: `${width}px`, height: `${height}px` }}>
        <svg width={width} height={height} aria-hidden="true">
          <defs>
            <marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">
              <path d="M0 0L8 4L0 8z" />
            </marker>
          </defs>
          {view.edges.map((edge) => {
            const { points } = graph.edge(String(edge.source), String(edge.target));
            return <path key={`${edge.source}-${edge.target}`} class={flows ? "edge flows" : "edge"} d={curve(points)} marker-end="url(#tip)" />;
          })}
        </svg>
        <ol>
          {[...view.nodes].reverse().map((node) => {
            const { x, y } = graph.node(String(node.number));
            return <Node key={node.number} node={node} facts={facts.get(node.number)!} left={x - step / 2} top={y - tall / 2} width={step} height={tall} />;
          })}
        </ol>
      </div>
    </div>
    {some && <p class="quiet small">Spark runs steps without state together with those beside them. It counts no rows between them.</p>}
    </>
  );
}

function laidOut(view: View, size: { width: number; gap: number }, tall: number, rankdir: "LR" | "TB") {
  // Arrows that go down need their length; steps beside one another need less.
  const [ranksep, nodesep] = rankdir === "LR" ? [size.gap, 24] : [34, Math.min(size.gap, 24)];
  const graph = new dagre.graphlib.Graph().setGraph({ rankdir, nodesep, ranksep, marginx: 4, marginy: 4 });
  graph.setDefaultEdgeLabel(() => ({}));
  for (const node of view.nodes) graph.setNode(String(node.number), { width: size.width, height: tall });
  for (const edge of view.edges) graph.setEdge(String(edge.source), String(edge.target));
  dagre.layout(graph);
  return { graph, step: size.width };
}

// Steps with state tell their state in place of rows.
const isUncounted = (node: PlanNode) => node.rows === null && node.state_rows === null;

type Fact = [string, string];
interface Placed { node: PlanNode; facts: Fact[]; left: number; top: number; width: number; height: number }

function factsOf(node: PlanNode, zone: string, begun: boolean): Fact[] {
  const facts: Fact[] = [];
  if (node.rows !== null) facts.push([node.step === "Sink" ? "rows out" : "rows", count(node.rows)]);
  else if (begun && isUncounted(node)) facts.push(["rows", "not counted"]);
  if (node.state_rows !== null) facts.push(["state", `${count(node.state_rows)} · ${size(node.state_bytes)}`]);
  if (node.dropped) facts.push(["late", count(node.dropped)]);
  if (node.watermark !== null) facts.push(["watermark", clock(node.watermark, zone)]);
  return facts;
}

function Node({ node, facts, left, top, width, height }: Placed) {
  const kind = node.step === "Sink" ? "sink" : node.step === "Scan" ? "scan" : node.stateful ? "stateful" : "plain";
  return (
    <li class={`node ${kind}${width < SIZES[0].width ? " tight" : ""}`} style={{ left: `${left}px`, top: `${top}px`, width: `${width}px`, height: `${height}px` }}>
      <div class="head">
        <b>{TITLES[node.step] ?? node.step}</b>
        {node.activity && node.activity !== "active" && <span class={`pill ${node.activity}`}>{node.activity}</span>}
        {node.stateful && <span class="tag" title="keeps state">state</span>}
      </div>
      <div class="detail" title={node.detail}>{shortName(node.detail)}</div>
      <dl>
        {facts.map(([name, value]) => <div key={name}><dt>{name}</dt><dd title={value}>{value}</dd></div>)}
      </dl>
    </li>
  );
}

function curve(points: { x: number; y: number }[]): string {
  const [first, ...rest] = points;
  const parts = [`M${first.x} ${first.y}`];
  for (let n = 0; n + 1 < rest.length; n += 1) {
    const last = n + 2 === rest.length;
    const end = last ? rest[n + 1] : { x: (rest[n].x + rest[n + 1].x) / 2, y: (rest[n].y + rest[n + 1].y) / 2 };
    parts.push(`Q${rest[n].x} ${rest[n].y} ${end.x} ${end.y}`);
  }
  if (rest.length === 1) parts.push(`L${rest[0].x} ${rest[0].y}`);
  return parts.join("");
}
