import { call } from './request.ts'

/** Whether the runs of a blueprint are traced, and where they pause. */
export interface Tracing {
  readonly on: boolean
  /** When it turns itself off, in ISO 8601; null while it is off. */
  readonly until: string | null
  readonly keep_last: number
  /** Guids of flow blocks. They stay while tracing is off, and hold nothing up then. */
  readonly breakpoints: readonly string[]
}

export interface TracingChange {
  readonly on: boolean
  readonly minutes?: number
  readonly keep_last?: number
  /** Those that there are, if not given. */
  readonly breakpoints?: readonly string[]
}

export function readTracing(blueprint: string, signal: AbortSignal): Promise<Tracing> {
  return call<Tracing>('GET', `/blueprints/${blueprint}/tracing`, { signal })
}

export function setTracing(blueprint: string, change: TracingChange): Promise<Tracing> {
  return call<Tracing>('PUT', `/blueprints/${blueprint}/tracing`, { body: change })
}
