/** What names a field: it is told before the field gets another name, another type or is removed. */
import { renamedExpressions } from '../../records/fields/rename-in-expressions.ts'
import { findRecords } from '../../records/records.ts'
import { pauses } from '../../shared/cooperative.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../shared/json.ts'
import { type Query, search } from '../../shared/query.ts'
import { guidOf, objectsIn, textIn } from '../../storage/document-fields.ts'
import { systemStorages } from '../../storage/system-storages.ts'
import type { Flows } from '../flows.ts'

export interface FieldUse {
  /** `field`: by its `computed` or `default_expression`; `storage`: by a rule or constraint. */
  readonly kind: 'blueprint' | 'field' | 'storage' | 'view'
  readonly guid: string
  readonly name: string
}

type FieldUseServices = Pick<Flows, 'live' | 'records'>

const MOST_VIEWS = 500
const MOST_USES = 100

/** The first 100. Of blueprints, active ones that use the storage and have the name in a pin, a setting or an expression. */
export async function fieldUses(
  services: FieldUseServices,
  storage: string,
  field: string,
): Promise<readonly FieldUse[]> {
  const session = services.records.database.session()
  // Any other name shows what would be written otherwise.
  const renamed = await renamedExpressions(session, { storage, from: field, to: `${field}_` })
  const uses: FieldUse[] = renamed.map(({ kind, guid, name }) => ({ kind, guid, name }))
  const pattern = new RegExp(`(?:^|[^\\w.])(?:[A-Za-z_]\\w*\\.)*${RegExp.escape(field)}(?:$|[^\\w])`)
  const query: Query = { kind: 'term', field: 'storage', value: storage }
  const views = await session.find(systemStorages.views, search({ query, limit: MOST_VIEWS }))
  for (const view of objectsIn(views.documents.value))
    if (pattern.test(decodeURIComponent(textIn(view.address)).replaceAll(/[&=]/g, ' ')))
      uses.push({ kind: 'view', guid: guidOf(view), name: textIn(view.name) })
  return [...uses, ...(await blueprints(services, storage, pattern))].slice(0, MOST_USES)
}

async function blueprints(
  services: FieldUseServices,
  storage: string,
  pattern: RegExp,
): Promise<readonly FieldUse[]> {
  const session = services.records.database.session()
  const pause = pauses()
  const found: FieldUse[] = []
  for (const [guid, { name, compiled }] of services.live.table().blueprints) {
    if (!compiled.needs.has(storage)) continue
    const query: Query = { kind: 'term', field: 'blueprint_guid', value: guid }
    const blocks = await findRecords(session, systemStorages.blocks, query, pause)
    if (blocks.some((block) => names(block, pattern))) found.push({ kind: 'blueprint', guid, name })
  }
  return found
}

/** Titles and notes of a block say nothing about documents. */
function names({ fields, in_pins, custom_out_pins }: JsonObject, pattern: RegExp): boolean {
  return [fields, in_pins, custom_out_pins].some((part) => part !== undefined && holds(part, pattern))
}

function holds(value: JsonValue, pattern: RegExp): boolean {
  if (typeof value === 'string') return pattern.test(value)
  if (Array.isArray(value)) return value.some((one) => holds(one, pattern))
  return (
    isJsonObject(value) &&
    Object.entries(value).some(([key, one]) => pattern.test(key) || holds(one, pattern))
  )
}
