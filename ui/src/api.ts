// Everything that the page asks the server. The token comes in the fragment of the address, which no server sees.

import { signal } from "@preact/signals";
import { readTimeline, type Timeline } from "./lib/arrow";
import type * as wire from "./wire";

/** Why there is no answer. */
export class AskError extends Error {
  readonly failure: wire.Failure;

  constructor(failure: wire.Failure) {
    super(failure.message);
    this.failure = failure;
  }
}

/** Traffic with the server, for the status bar. */
export const traffic = {
  requests: signal(0),
  running: signal(0),
  /** Milliseconds that the last answer took on the server. */
  took: signal<number | null>(null),
  /** Whether the server does not answer. */
  isLost: signal(false),
  /** The extract that is shown was removed or moved. */
  isGone: signal(false),
  /** Number of answers that failed because the extract was replaced, or is being opened again. */
  replaced: signal(0),
};

const KEY = "etwkit.token";
let token = "";

/** Takes the token out of a fragment, and gives the rest of it: what the page shows. */
export function takeToken(fragment: string): { token: string | null; rest: string } {
  const parts = fragment.replace(/^#/, "").split(";");
  const found = parts.find((part) => part.startsWith("k="));
  const rest = parts.filter((part) => part !== found).join(";");
  return { token: found === undefined ? null : decodeURIComponent(found.slice(2)), rest };
}

/** Moves the token from the address to the storage of this port, so that no link that is copied has it. */
export function signIn(): void {
  const { token: given, rest } = takeToken(location.hash);
  if (given !== null) {
    localStorage.setItem(KEY, given);
    history.replaceState(history.state, "", `${location.pathname}${rest === "" ? "" : `#${rest}`}`);
  }
  token = localStorage.getItem(KEY) ?? "";
}

function lost(): AskError {
  return new AskError({
    code: "offline",
    message: "The server does not answer.",
    hint: "Is `etwkit view` still running? Start it again, and open the link that it prints.",
  });
}

function illegible(status: number): AskError {
  return new AskError({ code: "internal", message: `The server answered ${status}.`, hint: null });
}

/** Counts a failure after which the server opens, or opened, another extract. */
export function countReplaced(failure: wire.Failure): void {
  if (failure.code === "replaced" || failure.code === "not_ready") traffic.replaced.value += 1;
}

/** Each panel would say the same two lines about the file; that it is gone is said once, above all of them. */
export function goneOr(failure: wire.Failure, path: string): wire.Failure {
  if (path.endsWith("open") || !/cannot open [^\n]+\.etwx[:\\/]/.test(failure.message)) return failure;
  traffic.isGone.value = true;
  return { code: "gone", message: "The extract is gone.", hint: null };
}

async function failed(response: Response, path: string): Promise<AskError> {
  if (response.status === 401 || response.status === 403) {
    return new AskError({
      code: "refused",
      message: "The server refuses this page.",
      hint: "Open the link that `etwkit view` printed when it started; links of earlier runs do not count.",
    });
  }
  try {
    const failure = (await response.json()) as wire.Failure;
    countReplaced(failure);
    return new AskError(goneOr(failure, path));
  } catch {
    return illegible(response.status);
  }
}

async function send(path: string, body: BodyInit | null, signal?: AbortSignal): Promise<Response> {
  const headers: Record<string, string> = { Authorization: `Bearer ${token}` };
  if (typeof body === "string") headers["Content-Type"] = "application/json";
  traffic.requests.value += 1;
  traffic.running.value += 1;
  try {
    const method = body === null ? "GET" : "POST";
    const response = await fetch(`api/v1/${path}`, {
      method,
      body,
      headers,
      signal: signal ?? null,
      cache: "no-store",
    });
    traffic.isLost.value = false;
    if (!response.ok) throw await failed(response, path);
    return response;
  } catch (error) {
    if (error instanceof AskError || (error as Error).name === "AbortError") throw error;
    traffic.isLost.value = true;
    throw lost();
  } finally {
    traffic.running.value -= 1;
  }
}

async function asked<T>(path: string, body: unknown, signal?: AbortSignal): Promise<T> {
  const response = await send(path, body === null ? null : JSON.stringify(body), signal);
  const answer = (await response.json()) as T & { source?: wire.Source };
  traffic.took.value = answer.source?.took_ms ?? traffic.took.value;
  return answer;
}

/** Sends the bytes of a file. The server reads them, in any encoding. */
async function askedOf<T>(path: string, file: File): Promise<T> {
  const response = await send(path, await file.arrayBuffer());
  return (await response.json()) as T;
}

/** Sends a file that the page has; `onProgress` gets the share that was sent, 0 to 1. */
function upload(file: File, onProgress: (done: number) => void): Promise<wire.Info> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open("POST", `api/v1/upload?name=${encodeURIComponent(file.name)}`);
    request.setRequestHeader("Authorization", `Bearer ${token}`);
    request.upload.onprogress = (event) =>
      onProgress(event.lengthComputable ? event.loaded / event.total : 0);
    request.onerror = () => reject(lost());
    request.onload = () => {
      try {
        const answer = JSON.parse(request.responseText) as wire.Info & wire.Failure;
        if (request.status < 400) resolve(answer);
        else reject(new AskError(answer));
      } catch {
        reject(illegible(request.status));
      }
    };
    request.send(file);
  });
}

async function timeline(request: wire.TimelineRequest, signal?: AbortSignal): Promise<Timeline> {
  const response = await send("timeline", JSON.stringify(request), signal);
  const answer = readTimeline(await response.arrayBuffer());
  traffic.took.value = answer.header.source.took_ms;
  return answer;
}

/** What a route answers to a request; the signal ends it. */
const route =
  <R, A>(path: string) =>
  (request: R, signal?: AbortSignal) =>
    asked<A>(path, request, signal);

/** A route whose request says nothing. */
const step =
  <A>(path: string) =>
  () =>
    asked<A>(path, {});

/** One function for each thing that can be asked. All throw [`AskError`]. */
export const api = {
  info: (signal?: AbortSignal) => asked<wire.Info>("info", null, signal),
  schema: (signal?: AbortSignal) => asked<wire.Schema>("schema", null, signal),
  open: (path: string) => asked<wire.Info>("open", { path }),
  folder: (path: string, signal?: AbortSignal) => asked<wire.FolderAnswer>("folder", { path }, signal),
  demo: step<wire.Info>("demo"),
  upload,
  record: step<wire.RecordAnswer>("record"),
  recordStart: route<wire.RecordRequest, wire.RecordAnswer>("record/start"),
  recordMark: (text: string) => asked<wire.RecordAnswer>("record/mark", { text }),
  recordStop: step<wire.RecordAnswer>("record/stop"),
  recordCancel: step<wire.RecordAnswer>("record/cancel"),
  symbols: step<wire.SymbolsAnswer>("symbols"),
  symbolsLoad: route<wire.SymbolsRequest, wire.SymbolsAnswer>("symbols/load"),
  symbolsCancel: step<wire.SymbolsAnswer>("symbols/cancel"),
  tags: step<wire.TagsAnswer>("tags"),
  tagsOwn: route<wire.OwnTagsRequest, wire.TagsAnswer>("tags/own"),
  tagsFile: (file: File) => askedOf<wire.TagsAnswer>(`tags/file?name=${encodeURIComponent(file.name)}`, file),
  tagsBuiltIn: step<wire.TagsAnswer>("tags/built_in"),
  tagsText: (file: File) => askedOf<wire.TagText>("tags/text", file),
  lanes: route<wire.LanesRequest, wire.LanesAnswer>("lanes"),
  timeline,
  series: route<wire.SeriesRequest, wire.SeriesAnswer>("series"),
  moment: route<wire.MomentRequest, wire.Moment>("moment"),
  flame: route<wire.FlameRequest, wire.FlameAnswer>("flame"),
  flameChart: route<wire.FlameChartRequest, wire.FlameChartAnswer>("flame_chart"),
  pivot: route<wire.PivotRequest, wire.PivotAnswer>("pivot"),
  pivotSeries: route<wire.PivotSeriesRequest, wire.PivotSeriesAnswer>("pivot_series"),
  diskMap: route<wire.DiskMapRequest, wire.DiskMapAnswer>("disk_map"),
  diskCell: route<wire.DiskCellRequest, wire.DiskCellAnswer>("disk_cell"),
  modules: route<wire.ModulesRequest, wire.ModulesAnswer>("modules"),
  rows: route<wire.RowsRequest, wire.RowsAnswer>("rows"),
  search: route<wire.SearchRequest, wire.SearchAnswer>("search"),
  ask: route<wire.AskRequest, wire.Answer>("ask"),
  explain: route<wire.ExplainRequest, wire.ExplainAnswer>("explain"),
  findings: route<wire.FindingsRequest, wire.FindingsAnswer>("findings"),
  sql: route<wire.SqlRequest, wire.Answer>("sql"),
};
