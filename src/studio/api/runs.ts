import type { PausedRun, ReplayState, Run, RunSummary } from '../../shared/api/runs.ts'
import { call, type Page, readPage } from './request.ts'

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
