/**
 * Blocks that were saved before `query_bool_must` had its pin `ignore_empty`: for them an empty list of terms gave no
 * filter. So that they go on doing what they did, true is written on each, whether saved, staged or in a deployment.
 * Done once per database, before blueprints are compiled: 50 records in memory at a time, and one read at later starts.
 */

import type { JsonObject, JsonValue } from '../../shared/json.ts'
import { isJsonObject } from '../../shared/json.ts'
import { setFields } from '../../shared/mutation.ts'
import { type Query, search } from '../../shared/query.ts'
import type { Database } from '../../storage/database.ts'
import { guidOf, objectsIn, textIn } from '../../storage/document-fields.ts'
import { documentsOf, findOne } from '../../storage/find-documents.ts'
import { ownStorages } from '../../storage/own-storages.ts'
import { transact } from '../../storage/transact.ts'

const STEP = 'query_bool_must ignore_empty'
const PIN = 'ignore_empty'
const BLOCK = 'query_bool_must'
const PAGE = 50

const fitting: Query = {
  kind: 'or',
  queries: [
    { kind: 'term', field: 'type', value: BLOCK },
    { kind: 'term', field: 'unsaved.type', value: BLOCK },
  ],
}

export async function keepEmptyLists(database: Database): Promise<void> {
  await database.ensure(ownStorages.recordSteps, { indexes: [{ fields: ['name'], unique: true }] })
  // Of nodes that start together one does it, and the others find it done. No node deploys meanwhile.
  await database.capabilities.alone('deployments', async () => {
    if (await findOne(database.session(), ownStorages.recordSteps, 'name', STEP)) return
    await changeAll(database, ownStorages.blocks, fitting, changedBlock)
    await changeAll(database, ownStorages.deployments, { kind: 'all' }, changedDeployment)
    await transact(database, (session) => session.create(ownStorages.recordSteps, setFields({ name: STEP })))
  })
}

/** `change` gives the fields to write, or undefined when there is nothing to do. */
async function changeAll(
  database: Database,
  name: string,
  query: Query,
  change: (record: JsonObject) => Record<string, JsonValue> | undefined,
): Promise<void> {
  if (!database.has(name)) return
  const sort = [{ field: '_meta.cms', order: 'asc', missing: 'last' } as const]
  let after: string | undefined
  do {
    const page = search({ query, sort, limit: PAGE, ...(after !== undefined && { after }) })
    const found = await database.session().find(name, page)
    after = found.next()
    const changes = documentsOf(found).flatMap((record) => {
      const fields = change(record)
      return fields ? [{ guid: guidOf(record), fields }] : []
    })
    if (changes.length === 0) continue
    await transact(database, async (session) => {
      for (const { guid, fields } of changes) await session.update(name, guid, setFields(fields))
    })
  } while (after !== undefined)
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
