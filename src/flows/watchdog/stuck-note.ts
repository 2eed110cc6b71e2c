import { isJsonObject } from '../../shared/json.ts'
import type { FlowName } from '../run/running-flow.ts'

/** EX_SOFTWARE: with this code a process ends whose event loop was stuck. What keeps Quoin running starts it again. */
export const STUCK_EXIT = 70

/** What the watchdog's thread is to do. */
export interface WatchdogTask {
  readonly cells: Int32Array
  readonly seconds: number
  /** Where notes go. */
  readonly directory: string
}

/** What is left of a process whose event loop was stuck. Without a name no flow was running. */
export interface StuckNote extends Partial<FlowName> {
  /** Milliseconds since 1970. */
  readonly at: number
  readonly seconds: number
}

export function noteText(note: StuckNote): string {
  return JSON.stringify(note)
}

/** Undefined for a file that is no note, or only half of one. */
export function readNote(text: string): StuckNote | undefined {
  try {
    const value: unknown = JSON.parse(text)
    if (!isJsonObject(value) || typeof value.at !== 'number' || typeof value.seconds !== 'number')
      return undefined
    const { at, seconds, blueprint, block, space } = value
    const named = typeof blueprint === 'string' && typeof block === 'string'
    return {
      ...{ at, seconds, ...(named && { blueprint, block }) },
      ...(typeof space === 'string' && { space }),
    }
  } catch {
    return undefined
  }
}
