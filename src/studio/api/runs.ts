import { call, type Page, readPage } from './request.ts'

export type RunStatus = 'running' | 'paused' | 'ended' | 'failed'

export interface RunSummary {
  readonly guid: string
  readonly blueprint: string
  /** Guid of the trigger's block. */
  readonly trigger: string
  readonly trigger_type: 'http' | 'page' | 'function' | 'storage' | 'schedule'
  /** For people: `GET tasks/:id`. */
  readonly label: string
  readonly status: RunStatus
  /** ISO 8601. */
  readonly started: string
  /** Microseconds, without those in which it was paused. */
  readonly us: number
  readonly reply: { readonly status: number } | null
  readonly error: { readonly code: string; readonly message: string; readonly block: string | null } | null
  /** Executed blocks; not all may be kept. */
  readonly steps: number
  readonly user: string | null
  /** 0 for blocks that are not deployed. */
  readonly deployment: number
  readonly replay_of: string | null
}

/** Values by pin. One that was too long is a `Cut` of `editor/model/cut-value.ts`. */
export type PinValues = Readonly<Record<string, unknown>>

/** One execution of a block. */
export interface Step {
  readonly seq: number
  readonly block: string
  readonly type: string
  /** 0 = the flow; each call of a function has a number of its own. */
  readonly frame: number
  /** Microseconds since the run began. */
  readonly at_us: number
  readonly us: number
  readonly in: PinValues
  readonly out: PinValues
  /** The flow out-pin that was taken. */
  readonly next: string | null
  readonly error: string | null
  readonly note: string | null
  readonly kind: 'flow' | 'value' | 'trigger'
}

export interface RunRequest {
  readonly method: string
  readonly path: string
  readonly query: unknown
  readonly params?: unknown
  readonly headers: unknown
  readonly body: unknown
}

/** How the reply of a replay differs from the one that it repeats. */
export interface Compared {
  readonly status: readonly [before: number | null, after: number | null]
  readonly same: boolean
  readonly before: unknown
  readonly after: unknown
}

export interface Run extends Omit<RunSummary, 'steps' | 'reply'> {
  readonly request: RunRequest | null
  readonly reply: { readonly status: number; readonly headers: unknown; readonly body: unknown } | null
  readonly steps: readonly Step[]
  /** Whether something was left out of the steps. */
  readonly cut: boolean
  /** What a function returned. */
  readonly result: unknown
  readonly compared: Compared | null
}

/** A run that stands still at a breakpoint. Times in ISO 8601. */
export interface PausedRun {
  readonly run: string
  readonly blueprint: string
  /** The block that would be next. */
  readonly block: string
  readonly since: string
  /** When it goes on by itself. */
  readonly until: string
  readonly in: PinValues
  readonly steps: readonly Step[]
}

/** Which blocks a run is repeated on. */
export type ReplayState = 'staged' | 'saved' | 'deployed'
export type Steering = 'step' | 'resume' | 'stop'

export interface RunsAsked {
  /** Only those that went wrong. */
  readonly failed: boolean
  readonly limit: number
  readonly offset?: number
}

/** The newest first. */
export function listRuns(
  blueprint: string,
  { failed, ...part }: RunsAsked,
  signal: AbortSignal,
): Promise<Page<RunSummary>> {
  return readPage<RunSummary>('/runs', { blueprint, failed: failed || undefined, ...part }, signal)
}

export function readRun(guid: string, signal: AbortSignal): Promise<Run> {
  return call<Run>('GET', `/runs/${guid}`, { signal })
}

export function pausedRuns(blueprint: string, signal: AbortSignal): Promise<PausedRun[]> {
  return call<PausedRun[]>('GET', '/runs/paused', { query: { blueprint }, signal })
}

export function replayRun(guid: string, state: ReplayState): Promise<Run> {
  return call<Run>('POST', `/runs/${guid}/replay`, { body: { state, writes: 'discard' } })
}

export function steerRun(guid: string, steering: Steering): Promise<RunSummary> {
  return call<RunSummary>('POST', `/runs/${guid}/${steering}`)
}
