// Numbers, times and spans as people read them.
const UNITS: [string, number][] = [["d", 86_400_000], ["h", 3_600_000], ["min", 60_000], ["s", 1000]];

export function span(ms: number | null): string {
  if (ms === null) return "–";
  for (const [unit, size] of UNITS) {
    // `90 min` says more than `1 h`.
    if (ms >= 2 * size) return `${ms < 10 * size && unit === "s" ? (ms / size).toFixed(1) : Math.floor(ms / size).toLocaleString("en")} ${unit}`;
  }
  return `${Math.round(ms)} ms`;
}

export function count(value: number | null): string {
  return value === null ? "–" : value.toLocaleString("en");
}

export function short(value: number): string {
  if (Math.abs(value) >= 1e9) return `${+(value / 1e9).toFixed(1)}G`;
  if (Math.abs(value) >= 1e6) return `${+(value / 1e6).toFixed(1)}M`;
  if (Math.abs(value) >= 1e4) return `${+(value / 1e3).toFixed(1)}k`;
  return value >= 10 || Number.isInteger(value) ? Math.round(value).toLocaleString("en") : value.toFixed(1);
}

export function size(bytes: number | null): string {
  if (bytes === null) return "–";
  for (const [unit, of] of [["GB", 1e9], ["MB", 1e6], ["kB", 1e3]] as [string, number][]) {
    if (bytes >= of) return `${(bytes / of).toFixed(1)} ${unit}`;
  }
  return `${bytes} B`;
}

const END_OF_TIME = 253_370_764_800_000;

export function moment(ms: number | null, zone?: string): string {
  if (ms === null) return "–";
  if (ms >= END_OF_TIME) return "end of time";
  const text = new Intl.DateTimeFormat("sv-SE", { dateStyle: "short", timeStyle: "medium", timeZone: zone }).format(ms);
  return text;
}

export function clock(ms: number | null, zone?: string): string {
  if (ms === null || ms >= END_OF_TIME) return moment(ms, zone);
  return new Intl.DateTimeFormat("sv-SE", { timeStyle: "medium", timeZone: zone }).format(ms);
}

// The time alone says enough of today only.
export function when(ms: number | null, zone?: string): string {
  const shown = moment(ms, zone);
  return shown.slice(0, 10) === moment(Date.now(), zone).slice(0, 10) ? clock(ms, zone) : shown;
}

export const shortName = (plain: string | null) => (plain ?? "").replace(/^default_catalog\.default_database\./, "");
