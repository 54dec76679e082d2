// Everything that the page asks the server. The token comes in the fragment of the address, which no server sees.

import { signal } from "@preact/signals";
import { readTimeline, type Timeline } from "./lib/arrow";
import type {
  Answer,
  AskRequest,
  DiskCellAnswer,
  DiskCellRequest,
  DiskMapAnswer,
  DiskMapRequest,
  ExplainAnswer,
  ExplainRequest,
  Failure,
  FindingsAnswer,
  FindingsRequest,
  FlameAnswer,
  FlameChartAnswer,
  FlameChartRequest,
  FlameRequest,
  FolderAnswer,
  Info,
  LanesAnswer,
  LanesRequest,
  ModulesAnswer,
  ModulesRequest,
  Moment,
  MomentRequest,
  PivotAnswer,
  PivotRequest,
  PivotSeriesAnswer,
  PivotSeriesRequest,
  RecordAnswer,
  RecordRequest,
  RowsAnswer,
  RowsRequest,
  Schema,
  SearchAnswer,
  SearchRequest,
  SeriesAnswer,
  SeriesRequest,
  Source,
  SqlRequest,
  StackAnswer,
  StackRequest,
  SymbolsAnswer,
  SymbolsRequest,
  TimelineRequest,
} from "./wire";

/** Why there is no answer. */
export class AskError extends Error {
  readonly failure: Failure;

  constructor(failure: Failure) {
    super(failure.message);
    this.failure = failure;
  }
}

/** Traffic with the server, for the status bar. */
export const traffic = {
  requests: signal(0),
  running: signal(0),
  bytes: signal(0),
  /** Milliseconds that the last answer took on the server. */
  took: signal<number | null>(null),
  rowsRead: signal(0),
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

/** Counts a failure after which the server opens, or opened, another extract. */
export function countReplaced(failure: Failure): void {
  if (failure.code === "replaced" || failure.code === "not_ready") traffic.replaced.value += 1;
}

/** Each panel would say the same two lines about the file; that it is gone is said once, above all of them. */
export function goneOr(failure: Failure, path: string): Failure {
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
    const failure = (await response.json()) as Failure;
    countReplaced(failure);
    return new AskError(goneOr(failure, path));
  } catch {
    return new AskError({ code: "internal", message: `The server answered ${response.status}.`, hint: null });
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

function note(source: Source | undefined, size: number): void {
  traffic.bytes.value += size;
  if (source === undefined) return;
  traffic.took.value = source.took_ms;
  traffic.rowsRead.value += source.rows_read;
}

async function asked<T>(path: string, body: unknown, signal?: AbortSignal): Promise<T> {
  const response = await send(path, body === null ? null : JSON.stringify(body), signal);
  const text = await response.text();
  const answer = JSON.parse(text) as T & { source?: Source };
  note(answer.source, text.length);
  return answer;
}

/** Sends a file that the page has; `onProgress` gets the share that was sent, 0 to 1. */
function upload(file: File, onProgress: (done: number) => void): Promise<Info> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open("POST", `api/v1/upload?name=${encodeURIComponent(file.name)}`);
    request.setRequestHeader("Authorization", `Bearer ${token}`);
    request.upload.onprogress = (event) =>
      onProgress(event.lengthComputable ? event.loaded / event.total : 0);
    request.onerror = () => reject(lost());
    request.onload = () => {
      try {
        const answer = JSON.parse(request.responseText) as Info & Failure;
        if (request.status < 400) resolve(answer);
        else reject(new AskError(answer));
      } catch {
        reject(
          new AskError({ code: "internal", message: `The server answered ${request.status}.`, hint: null }),
        );
      }
    };
    request.send(file);
  });
}

async function timeline(request: TimelineRequest, signal?: AbortSignal): Promise<Timeline> {
  const response = await send("timeline", JSON.stringify(request), signal);
  const body = await response.arrayBuffer();
  const answer = readTimeline(body);
  note(answer.header.source, body.byteLength);
  return answer;
}

/** One function for each thing that can be asked. All throw [`AskError`]. */
export const api = {
  info: (signal?: AbortSignal) => asked<Info>("info", null, signal),
  schema: (signal?: AbortSignal) => asked<Schema>("schema", null, signal),
  open: (path: string) => asked<Info>("open", { path }),
  folder: (path: string, signal?: AbortSignal) => asked<FolderAnswer>("folder", { path }, signal),
  demo: () => asked<Info>("demo", {}),
  upload,
  record: () => asked<RecordAnswer>("record", {}),
  recordStart: (request: RecordRequest) => asked<RecordAnswer>("record/start", request),
  recordMark: (text: string) => asked<RecordAnswer>("record/mark", { text }),
  recordStop: () => asked<RecordAnswer>("record/stop", {}),
  recordCancel: () => asked<RecordAnswer>("record/cancel", {}),
  symbols: () => asked<SymbolsAnswer>("symbols", {}),
  symbolsLoad: (request: SymbolsRequest) => asked<SymbolsAnswer>("symbols/load", request),
  symbolsCancel: () => asked<SymbolsAnswer>("symbols/cancel", {}),
  lanes: (request: LanesRequest, signal?: AbortSignal) => asked<LanesAnswer>("lanes", request, signal),
  timeline,
  series: (request: SeriesRequest, signal?: AbortSignal) => asked<SeriesAnswer>("series", request, signal),
  moment: (request: MomentRequest, signal?: AbortSignal) => asked<Moment>("moment", request, signal),
  flame: (request: FlameRequest, signal?: AbortSignal) => asked<FlameAnswer>("flame", request, signal),
  flameChart: (request: FlameChartRequest, signal?: AbortSignal) =>
    asked<FlameChartAnswer>("flame_chart", request, signal),
  stack: (request: StackRequest, signal?: AbortSignal) => asked<StackAnswer>("stack", request, signal),
  pivot: (request: PivotRequest, signal?: AbortSignal) => asked<PivotAnswer>("pivot", request, signal),
  pivotSeries: (request: PivotSeriesRequest, signal?: AbortSignal) =>
    asked<PivotSeriesAnswer>("pivot_series", request, signal),
  diskMap: (request: DiskMapRequest, signal?: AbortSignal) =>
    asked<DiskMapAnswer>("disk_map", request, signal),
  diskCell: (request: DiskCellRequest, signal?: AbortSignal) =>
    asked<DiskCellAnswer>("disk_cell", request, signal),
  modules: (request: ModulesRequest, signal?: AbortSignal) =>
    asked<ModulesAnswer>("modules", request, signal),
  rows: (request: RowsRequest, signal?: AbortSignal) => asked<RowsAnswer>("rows", request, signal),
  search: (request: SearchRequest, signal?: AbortSignal) => asked<SearchAnswer>("search", request, signal),
  ask: (request: AskRequest, signal?: AbortSignal) => asked<Answer>("ask", request, signal),
  explain: (request: ExplainRequest, signal?: AbortSignal) =>
    asked<ExplainAnswer>("explain", request, signal),
  findings: (request: FindingsRequest, signal?: AbortSignal) =>
    asked<FindingsAnswer>("findings", request, signal),
  sql: (request: SqlRequest, signal?: AbortSignal) => asked<Answer>("sql", request, signal),
};

export type Api = typeof api;
