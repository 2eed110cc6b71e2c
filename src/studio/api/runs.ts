import type { BlockTimes } from '../../shared/api/blocks/blocks.ts'
import type { LastValues } from '../../shared/api/blueprints/last-values.ts'
import type {
  HandRunAsked,
  PausedRun,
  PinnedReplies,
  ReplayState,
  Run,
  RunSummary,
} from '../../shared/api/blueprints/runs.ts'
import type { RecordPage } from '../../shared/record-page.ts'
import { call, readPage } from './request.ts'

export interface RunsAsked {
  /** Only those that went wrong. */
  readonly failed: boolean
  /** Guid of a block. */
  readonly trigger?: string
  readonly limit: number
  readonly offset?: number
}

/** The newest first. */
export function listRuns(
  blueprint: string,
  { failed, ...part }: RunsAsked,
  signal: AbortSignal,
): Promise<RecordPage<RunSummary>> {
  return readPage<RunSummary>('/runs', { blueprint, failed: failed || undefined, ...part }, signal)
}

/** Of a trigger of a blueprint; of any where it is ''. */
export async function newestFailedRun(
  blueprint: string,
  trigger: string,
  signal: AbortSignal,
): Promise<RunSummary | undefined> {
  const asked = {
    status: 'failed',
    blueprint: blueprint || undefined,
    trigger: trigger || undefined,
    limit: 1,
  }
  return (await readPage<RunSummary>('/runs', asked, signal)).records[0]
}

export function readRun(guid: string, signal: AbortSignal): Promise<Run> {
  return call<Run>('GET', `/runs/${guid}`, { signal })
}

/** For each block the values of the last run that passed it. */
export function lastValues(blueprint: string, signal: AbortSignal): Promise<LastValues> {
  return call<LastValues>('GET', `/blueprints/${blueprint}/last-values`, { signal })
}

/** Of the deployed version, from sampled runs. */
export function blockTimes(blueprint: string, signal: AbortSignal): Promise<BlockTimes> {
  return call<BlockTimes>('GET', `/blueprints/${blueprint}/block-times`, { signal })
}

export function pausedRuns(blueprint: string, signal: AbortSignal): Promise<PausedRun[]> {
  return call<PausedRun[]>('GET', '/runs/paused', { query: { blueprint }, signal })
}

export function replayRun(guid: string, state: ReplayState, pinned: PinnedReplies): Promise<Run> {
  return call<Run>('POST', `/runs/${guid}/replay`, { body: { state, pinned, writes: 'discard' } })
}

export function runByHand(blueprint: string, asked: HandRunAsked): Promise<Run> {
  return call<Run>('POST', `/blueprints/${blueprint}/run`, { body: asked })
}

export function steerRun(guid: string, steering: 'step' | 'resume' | 'stop'): Promise<RunSummary> {
  return call<RunSummary>('POST', `/runs/${guid}/${steering}`)
}
