/**
 * After the watchdog has ended a process whose event loop was blocked: its notes are written to the system log, and a
 * blueprint that blocked it three times within a day is deactivated, so that one endpoint cannot stop a node from serving
 * the others.
 */
import { readdir, readFile, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { SYSTEM } from '../../records/records.ts'
import type { SystemLog } from '../../records/system-log.ts'
import type { Clock } from '../../shared/clock.ts'
import { QuoinError } from '../../shared/errors.ts'
import { isJsonObject } from '../../shared/json.ts'
import type { Deployments } from '../live/deployments.ts'
import type { FlowName } from '../run/running-flow.ts'

const TIMES = 3
const DAY_MS = 86_400_000
/** Each ended process leaves one note; more files than this are not notes of Quoin. */
const MOST_NOTES = 1_000
/** The user of changes that no user asked for, as in the audit log. */
const REPORTED = '.told'

export interface StuckFlowsOptions {
  readonly deployments: Pick<Deployments, 'deactivate'>
  readonly log: Pick<SystemLog, 'write'>
  readonly clock: Clock
  readonly directory: string
  /** Guid of the space whose flows these are: notes of others stay. */
  readonly space?: string | undefined
}

/** Where a node keeps the notes, in its data folder. */
export function stuckDirectory(data: string): string {
  return join(data, 'stuck')
}

/** At each start, before any run. Logged notes are kept for a day under another name, to be counted. */
export async function settleStuckFlows(options: StuckFlowsOptions): Promise<void> {
  const { deployments, log, clock, directory, space } = options
  const notes = (await readNotes(directory)).filter(({ note }) => note.space === space)
  for (const { note, path, isNew } of notes) {
    if (isNew) log.write(entryOf(note))
    if (clock() - note.at > DAY_MS) await rm(path, { force: true })
    else if (isNew) await rename(path, path + REPORTED)
  }
  const recent = notes.filter(({ note }) => note.blueprint !== undefined && clock() - note.at <= DAY_MS)
  for (const [blueprint = '', own] of Map.groupBy(recent, ({ note }) => note.blueprint)) {
    if (own.length < TIMES || !own.some(({ isNew }) => isNew)) continue
    const message = `The blueprint was deactivated: its flows blocked the event loop ${own.length} times within a day, and the process had to be ended. Repair it, then activate it again.`
    try {
      await deployments.deactivate(blueprint, SYSTEM)
      log.write({ level: 'error', message, blueprint })
    } catch (error) {
      // The blueprint was deleted meanwhile.
      if (!(error instanceof QuoinError)) throw error
    }
    // A blueprint that is activated again starts with a count of zero.
    for (const { path, isNew } of own) await rm(isNew ? path + REPORTED : path, { force: true })
  }
}

interface Found {
  readonly note: StuckNote
  readonly path: string
  readonly isNew: boolean
}

async function readNotes(directory: string): Promise<readonly Found[]> {
  const names = (await readdir(directory).catch(() => [])).filter((name) => /\.json(?:\.told)?$/.test(name))
  const found: Found[] = []
  for (const name of names.sort().slice(-MOST_NOTES)) {
    const path = join(directory, name)
    const note = readNote(await readFile(path, 'utf8'))
    if (note) found.push({ note, path, isNew: !name.endsWith(REPORTED) })
  }
  return found
}

function entryOf({ at, seconds, blueprint, block }: StuckNote): Parameters<SystemLog['write']>[0] {
  const when = new Date(at).toISOString()
  const what = blueprint === undefined ? 'No flow was running.' : 'This flow was running.'
  const message = `A process of this node was ended at ${when}: its event loop had not turned for ${seconds} seconds. ${what}`
  return { level: 'error', message, ...(blueprint !== undefined && { blueprint, block }) }
}

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
function readNote(text: string): StuckNote | undefined {
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
