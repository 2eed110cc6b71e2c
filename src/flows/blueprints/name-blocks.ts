/** Blocks that were saved before blocks had names get one each, whether saved, staged or in a deployment. */

import { invalidField } from '../../shared/errors.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../shared/json.ts'
import { blockNames, type Named } from '../../shared/names/block-name.ts'
import type { Query } from '../../shared/query.ts'
import type { Database } from '../../storage/database.ts'
import { guidOf, objectsIn, textIn } from '../../storage/document-fields.ts'
import { findAll } from '../../storage/find-documents.ts'
import { systemStorages } from '../../storage/system-storages.ts'
import { changeAll, recordStep } from './record-step.ts'

const STEP = 'names of blocks'
/** As many blocks as a blueprint may have. */
const MOST = 10_000

type Names = ReadonlyMap<string, string>

export function nameBlocks(database: Database): Promise<void> {
  return recordStep(database, STEP, () =>
    changeAll(database, systemStorages.blueprints, { kind: 'all' }, async (blueprint) => {
      const ofBlueprint: Query = { kind: 'term', field: 'blueprint_guid', value: guidOf(blueprint) }
      const names = await namesNow(database, ofBlueprint)
      await changeAll(database, systemStorages.blocks, ofBlueprint, (record) => namedBlock(record, names))
      await changeAll(database, systemStorages.deployments, ofBlueprint, (record) =>
        namedDeployment(record, names),
      )
      return undefined
    }),
  )
}

async function namesNow(database: Database, ofBlueprint: Query): Promise<Names> {
  if (!database.has(systemStorages.blocks)) return new Map()
  const oldestFirst = [{ field: '_meta.cms', order: 'asc', missing: 'last' } as const]
  const records = await findAll(database.session(), systemStorages.blocks, ofBlueprint, MOST, oldestFirst)
  return blockNames(records.map((record) => ({ ...described(record), guid: guidOf(record) })))
}

function described({ guid, name, title, type }: JsonObject) {
  const named = typeof name === 'string' ? { name } : {}
  return { guid: textIn(guid), ...named, title: textIn(title), type: textIn(type) }
}

function namedBlock(record: JsonObject, names: Names): Record<string, JsonValue> | undefined {
  const name = names.get(guidOf(record))
  if (name === undefined || typeof record.name === 'string') return undefined
  const isChanged = isJsonObject(record.unsaved) && record.unsaved.change === 'updated'
  return { name, ...(isChanged && { 'unsaved.name': name }) }
}

/** Blocks that are no longer in the blueprint get names that its others do not have. */
function namedDeployment(record: JsonObject, names: Names): Record<string, JsonValue> | undefined {
  const blocks = objectsIn(record.blocks ?? [])
  if (blocks.every(({ name }) => typeof name === 'string')) return undefined
  const known = blocks.map((block) => {
    const name = names.get(textIn(block.guid))
    return { ...described(block), ...(name !== undefined && { name }) }
  })
  const all = blockNames(known)
  return {
    blocks: blocks.map((block) => ({ ...block, name: all.get(textIn(block.guid)) ?? textIn(block.name) })),
  }
}

/** The name of each block by its guid, made where none is given. INVALID_BODY when two blocks were given the same one. */
export function settledNames(blocks: readonly Named[]): ReadonlyMap<string, string> {
  const names = blockNames(blocks)
  const twice = blocks.find(({ guid, name }) => name !== undefined && names.get(guid) !== name)
  if (twice?.name === undefined) return names
  const message = `Another block of the blueprint is named ${twice.name}: choose another name, such as ${names.get(twice.guid)}.`
  throw invalidField('name', message)
}
