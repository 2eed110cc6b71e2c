/** What the servers that a check starts may use: 50 ms of processor time between two turns of the event loop, and memory. */
import { mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { LONGEST_TURN_MS } from '../../turn-guard.ts'

/** Written by each process of a server. */
export interface ServerRecord {
  /** Milliseconds of processor time, and what was asked for while it lasted. */
  longestTurn: number
  asked: readonly string[]
  /** The same while a path was asked for that the process had not answered before. Not limited. */
  longestFirst: number
  /** The most memory that it had, bytes. */
  most: number
}

/** What a server is told in TURN_GUARD. */
export interface GuardWish {
  readonly folder: string
  /** How long after its first request it begins to look, milliseconds. 0: every path was requested before. */
  readonly warm: number
}

/** The first reply by a schema loads what serialises it: 70 to 110 ms of processor time, once. */
const WARM_MS = 3_000

/** Between two looks of a process at its memory and at its note. */
export const LOOK_MS = 250

export interface GuardOutcome {
  readonly failures: readonly string[]
  readonly figures: Readonly<Record<string, number>>
}

export interface ServerGuard {
  /** Environment variables for each server. */
  readonly settings: Readonly<Record<'NODE_OPTIONS' | 'TURN_GUARD', string>>
  /** Of all servers since the last time. */
  outcome(): GuardOutcome
  close(): void
}

/** Resident memory of one process; half of what `deploy/kubernetes.yaml` gives it would be too little for 500 MB uploads. */
export const MOST_MEGABYTES = 1024

const preload = new URL('./guarded-server.ts', import.meta.url).href

/** `folder`: for its notes; made if it is missing, and removed with it. */
export function openServerGuard(folder: string, warm = WARM_MS): ServerGuard {
  const wish: GuardWish = { folder, warm }
  mkdirSync(folder, { recursive: true })
  return {
    settings: { NODE_OPTIONS: `--import=${preload}`, TURN_GUARD: JSON.stringify(wish) },
    outcome() {
      const notes = readdirSync(folder).map((name) => join(folder, name))
      const records = notes.map((note) => recordIn(readFileSync(note, 'utf8')))
      // Those alone: others are written meanwhile.
      for (const note of notes) rmSync(note)
      return judge(records)
    },
    close: () => rmSync(folder, { recursive: true, force: true }),
  }
}

function judge(records: readonly ServerRecord[]): GuardOutcome {
  const failures: string[] = []
  for (const { longestTurn, asked, most } of records) {
    if (longestTurn > LONGEST_TURN_MS)
      failures.push(
        `the event loop of a server was busy for ${Math.round(longestTurn)} ms (at most ${LONGEST_TURN_MS}) after ${asked.join(', ') || 'no request'}`,
      )
    if (most > MOST_MEGABYTES * 2 ** 20)
      failures.push(`a server had ${megabytes(most)} MB of memory (at most ${MOST_MEGABYTES})`)
  }
  const figures =
    records.length === 0
      ? {}
      : {
          'guarded processes': records.length,
          'longest turn, ms': Math.round(Math.max(...records.map(({ longestTurn }) => longestTurn))),
          'longest turn of a first use, ms': Math.round(
            Math.max(...records.map(({ longestFirst }) => longestFirst)),
          ),
          'most memory, MB': megabytes(Math.max(...records.map(({ most }) => most))),
        }
  return { failures, figures }
}

const megabytes = (bytes: number): number => Math.round(bytes / 2 ** 20)

/** Of a process that was killed while it wrote there may be half a record. */
function recordIn(text: string): ServerRecord {
  try {
    const record: ServerRecord = JSON.parse(text)
    return record
  } catch {
    return { longestTurn: 0, longestFirst: 0, asked: [], most: 0 }
  }
}
