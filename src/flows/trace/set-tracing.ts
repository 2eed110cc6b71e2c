/** Turning tracing of a blueprint on and off, as an endpoint asks for it. */

import { type Actor, getRecord } from '../../records/records.ts'
import { QuoinError } from '../../shared/errors.ts'
import type { JsonObject } from '../../shared/json.ts'
import { textIn } from '../../storage/document-fields.ts'
import { systemStorages } from '../../storage/system-storages.ts'
import { candidateBlocks } from '../blueprints/staged-content.ts'
import type { Flows } from '../flows.ts'
import { flowBlocks } from './traced-flows.ts'
import { KEEP_LAST, type Tracing } from './tracing.ts'

export interface TracingAsked {
  readonly on: boolean
  readonly minutes?: number | undefined
  readonly keep_last?: number | undefined
  /** Those that there are, if not given. */
  readonly breakpoints?: readonly string[] | undefined
  /** As it is, if not given; 0 also deletes what was recorded. */
  readonly record_one_in?: number | undefined
}

/** How long it is on, if not said. */
const MINUTES = 15

export async function readTracing({ flows, blueprints }: Tracing, guid: string) {
  await blueprintOf(flows, guid)
  const { on, until, keepLast, breakpoints, recordOneIn } = await blueprints.read(guid)
  const isOn = on && until > flows.environment.clock()
  return {
    on: isOn,
    until: isOn ? new Date(until).toISOString() : null,
    keep_last: keepLast,
    breakpoints: [...breakpoints],
    record_one_in: recordOneIn,
  }
}

/** VALIDATION_FAILED for a breakpoint where none can be. */
export async function setTracing(tracing: Tracing, guid: string, asked: TracingAsked, by: Actor) {
  const { flows, blueprints } = tracing
  const blueprint = await blueprintOf(flows, guid)
  if (asked.breakpoints) await checkBreakpoints(flows, guid, asked.breakpoints)
  const { minutes = MINUTES, keep_last: keepLast = KEEP_LAST } = asked
  const before = await blueprints.read(guid)
  const breakpoints = [...new Set(asked.breakpoints ?? before.breakpoints)]
  const recordOneIn = asked.record_one_in ?? before.recordOneIn
  const until = asked.on ? flows.environment.clock() + minutes * 60_000 : 0
  const rules = { ...{ on: asked.on, until, keepLast, breakpoints, recordOneIn }, accepted: before.accepted }
  await blueprints.set(guid, textIn(blueprint.name), rules, by)
  if (asked.record_one_in === 0) await tracing.requests.remove(guid)
  return readTracing(tracing, guid)
}

function blueprintOf({ records }: Flows, guid: string): Promise<JsonObject> {
  return getRecord(records.database.session(), systemStorages.blueprints, guid, 'blueprint')
}

async function checkBreakpoints(
  { records, catalogue, live }: Flows,
  guid: string,
  breakpoints: readonly string[],
): Promise<void> {
  const deployed = live.table().blueprints.get(guid)?.compiled.blocks ?? []
  const blocks = [...deployed, ...(await candidateBlocks(records, guid, 'staged'))]
  const possible = flowBlocks(blocks, catalogue)
  const problems = breakpoints
    .filter((block) => !possible.has(block))
    .map((block) => ({ block, message: 'Only a flow block of this blueprint can have a breakpoint.' }))
  if (problems.length === 0) return
  throw new QuoinError('VALIDATION_FAILED', 'Runs cannot pause there.', { problems })
}
