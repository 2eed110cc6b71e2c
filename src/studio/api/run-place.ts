/** Where a run is shown: its blueprint, with the block that failed, and the step that says why. */
import { ApiError } from './api-error.ts'
import { findSystemLogs } from './operations.ts'
import { newestFailedRun, readRun } from './runs.ts'

export interface RunPlace {
  /** Below `/studio`. */
  readonly address: string
  /** Its values can be shown. */
  readonly isRecorded: boolean
}

/** More entries of one run say nothing else about its place. */
const MOST_ENTRIES = 20

/** Undefined when neither the run nor what it logged is kept any more. */
export async function placeOfRun(guid: string, signal: AbortSignal): Promise<RunPlace | undefined> {
  try {
    const { blueprint, error, steps } = await readRun(guid, signal)
    const block = error?.block ?? ''
    const failed = steps.findLastIndex((step) => step.error !== null && step.block === block)
    // The address counts steps from 1.
    const step = failed < 0 ? '' : String(failed + 1)
    return { address: addressOf(blueprint, { run: guid, block, step }), isRecorded: true }
  } catch (error) {
    // 403: the user may not see values, but perhaps the log.
    if (!(error instanceof ApiError) || (error.status !== 404 && error.status !== 403)) throw error
  }
  const { records } = await findSystemLogs({ filters: { run: guid }, limit: MOST_ENTRIES }, signal)
  const entry = records.find(({ level, block }) => level === 'error' && block) ?? records[0]
  if (entry?.blueprint === undefined) return undefined
  return { address: addressOf(entry.blueprint, { block: entry.block ?? '' }), isRecorded: false }
}

/** The newest run that failed: of a trigger of a blueprint, or of any where both are ''. */
export async function placeOfNewestFailure(
  blueprint: string,
  trigger: string,
  signal: AbortSignal,
): Promise<RunPlace | undefined> {
  const run = await newestFailedRun(blueprint, trigger, signal)
  return run && placeOfRun(run.guid, signal)
}

function addressOf(blueprint: string, words: Readonly<Record<string, string>>): string {
  const input = Object.entries(words).filter(([, value]) => value !== '')
  const search = new URLSearchParams(input).toString()
  return `/blueprints/${blueprint}${search === '' ? '' : `?${search}`}`
}
