// What the server says (docs/ui.md), and how it is asked.
export interface Refusal { code: string; message: string; hint: string | null }
export interface Failure { code: string; message: string; hint: string | null; line: number | null }
export interface Card {
  name: string; job: string; state: string; here: boolean; bounded: boolean; started: number | null; at: number | null;
  statement: string; reads: string[]; writes: string | null; failure: Failure | null; watermark: number | null;
  lag: number | null; rate: number; rows_in: number; rows_out: number; rows_late: number; rows_dropped: number;
  rows_bad: number; dead_letters: number; batch: number; batch_ms: number; state_rows: number; state_bytes: number; idle: string[]; held: string[];
  warnings: string[];
}
export interface PlanNode {
  number: number; step: string; detail: string; changelog: string; stateful: boolean; rows: number | null;
  watermark: number | null; activity: string | null; state_rows: number | null; state_bytes: number | null;
  updated: number | null; dropped: number | null;
}
export interface Edge { source: number; target: number }
export interface OpenWindow { end: number; needs: Record<string, number>; expected: number | null; closes_at: number | null }
export interface Input {
  input: string; split: string | null; largest: number | null; watermark: number | null; idle_since: number | null;
  held: boolean; holds: boolean; rows: number;
}
export interface View {
  card: Card; zone: string; why: string; nodes: PlanNode[]; edges: Edge[]; inputs: Input[]; windows: OpenWindow[];
  session_windows: boolean;
}
type Column = (number | null)[];
export interface Series {
  at: number[]; watermark: Column; lag: Column; rows_in: Column; rows_out: Column; batch_ms: Column;
  parts: Record<string, Column>; state_rows: Column; state_bytes: Column; late: Column; dropped: Column; bad: Column;
  ran: boolean[];
}
export interface Lateness {
  input: string; declared: number; rows: number; delay: number[]; at_least: number[]; at_most: number[]; text: string;
}
export interface LastRows { table: string; columns: string[]; rows: (string | number | boolean | null)[][]; why: string | null }

async function get<T>(path: string, parameters: Record<string, string | number>): Promise<T> {
  const query = new URLSearchParams(Object.entries(parameters).map(([k, v]) => [k, String(v)]));
  const answer = await fetch(`/api/${path}?${query}`);
  if (!answer.ok) throw new Error((await answer.json()).error?.message ?? answer.statusText);
  return answer.json();
}

export const history = (name: string, since: number) => get<Series>("history", { name, since });
export const lateness = (name: string) => get<{ inputs: Lateness[] }>("lateness", { name });
export const lastRows = (name: string) => get<LastRows>("rows", { name });

export async function stop(name: string, token: string): Promise<string | null> {
  const query = new URLSearchParams({ name });
  const answer = await fetch(`/api/stop?${query}`, { method: "POST", headers: { "X-Sqlext-Token": token } });
  return answer.ok ? null : (await answer.json()).error.message;
}
