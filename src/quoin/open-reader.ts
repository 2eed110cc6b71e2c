/**
 * The composition root of a process that only reads (see `workers/workers.ts`): database → records → flows → doors, as
 * `quoin.ts` opens them, of which it needs users and endpoints. What is not an endpoint, or does more than read, is passed
 * on to the writer.
 */
import { readFile } from 'node:fs/promises'
import type { RunningFlow } from '../flows/run/running-flow.ts'
import type { Clock } from '../shared/clock.ts'
import type { Random } from '../shared/guid.ts'
import type { Opening } from '../workers/worker-messages.ts'
import { openReaderDoors, type ReaderDoors } from './open-reader-doors.ts'
import { openReaderFlows } from './open-reader-flows.ts'
import { releasers } from './releasers.ts'
import type { Start } from './start.ts'
import type { ToWriter } from './to-writer.ts'

export interface Reader extends ReaderDoors {
  readonly running: RunningFlow
  /** Takes no new connections, lets requests in flight finish, then closes. */
  close(): Promise<void>
}

interface ReaderSurroundings extends ToWriter {
  readonly clock: Clock
  readonly random: Random
}

export async function openReader(
  { options, entrance }: Opening,
  { clock, random, ...writer }: ReaderSurroundings,
): Promise<Reader> {
  const { version } = JSON.parse(await readFile(new URL('../../package.json', import.meta.url), 'utf8'))
  const opened = releasers()
  const start: Start = { options, clock, random, version, opened }
  try {
    const flows = await openReaderFlows(start, writer)
    const doors = await openReaderDoors(start, writer, flows, entrance)
    return { ...doors, running: flows.flows.running, close: opened.release }
  } catch (error) {
    await opened.release()
    throw error
  }
}
