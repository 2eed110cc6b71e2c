/**
 * Blocks that were saved before `query_bool_must` had its pin `ignore_empty`: for them an empty list of terms gave no
 * filter. So that they go on doing what they did, true is written on each, whether saved, staged or in a deployment.
 */

import { isJsonObject, type JsonObject, type JsonValue } from '../../shared/json.ts'
import type { Query } from '../../shared/query.ts'
import type { Database } from '../../storage/database.ts'
import { objectsIn, textIn } from '../../storage/document-fields.ts'
import { systemStorages } from '../../storage/system-storages.ts'
import { changeAll, recordStep } from './record-step.ts'

const STEP = 'query_bool_must ignore_empty'
const PIN = 'ignore_empty'
const BLOCK = 'query_bool_must'

const fitting: Query = {
  kind: 'or',
  queries: [
    { kind: 'term', field: 'type', value: BLOCK },
    { kind: 'term', field: 'unsaved.type', value: BLOCK },
  ],
}

export function keepEmptyLists(database: Database): Promise<void> {
  return recordStep(database, STEP, async () => {
    await changeAll(database, systemStorages.blocks, fitting, changedBlock)
    await changeAll(database, systemStorages.deployments, { kind: 'all' }, changedDeployment)
  })
}

function changedBlock(record: JsonObject): Record<string, JsonValue> | undefined {
  const saved = withPin(record)
  const unsaved = isJsonObject(record.unsaved) ? withPin(record.unsaved) : undefined
  if (!saved && !unsaved) return undefined
  return { ...(saved && { in_pins: saved }), ...(unsaved && { 'unsaved.in_pins': unsaved }) }
}

function changedDeployment(record: JsonObject): Record<string, JsonValue> | undefined {
  const blocks = objectsIn(record.blocks ?? [])
  const changed = blocks.map((block) => {
    const pins = withPin(block)
    return pins ? { ...block, in_pins: pins } : block
  })
  return changed.some((block, index) => block !== blocks[index]) ? { blocks: changed } : undefined
}

/** The block's pins with the new one, unless it is of another type or has it. */
function withPin({ type, in_pins: pins }: JsonObject): JsonValue[] | undefined {
  if (type !== BLOCK || !Array.isArray(pins)) return undefined
  if (pins.some((pin) => isJsonObject(pin) && textIn(pin.id) === PIN)) return undefined
  return [...pins, { id: PIN, value: true }]
}
