/** Before a field gets another name: how many documents follow, and what keeps it from that. */
import { invalidField, QuoinError } from '../../shared/errors.ts'
import { overlap } from '../../shared/field-path.ts'
import type { FieldRule } from '../../shared/field-rule.ts'
import { type JsonObject, sameJson } from '../../shared/json.ts'
import { type Query, search } from '../../shared/query.ts'
import type { Database } from '../../storage/database.ts'
import { guidOf } from '../../storage/document-fields.ts'
import { documentsOf } from '../../storage/find-documents.ts'
import { rulesIn } from './field-rules.ts'

const MOST_LISTED = 100

/** Gives how many documents have a value under the former name. Throws CONFLICT where values would be lost or rules passed over. */
export async function checkRename(
  database: Database,
  before: FieldRule,
  after: FieldRule,
  /** Documents have copies under the new name already. */
  { isBegun = false }: { readonly isBegun?: boolean } = {},
): Promise<{ readonly documents: number }> {
  const { storage } = before
  if (
    before.name === after.name ||
    storage === undefined ||
    after.storage !== storage ||
    !database.has(storage)
  )
    return { documents: 0 }
  const session = database.session()
  const documents = await session.count(storage, { kind: 'exists', field: before.name })
  if (documents === 0) return { documents }
  await refuseOtherVersions(database)
  if (!isOnlyRenamed(before, after))
    throw invalidField(
      'name',
      `${documents} documents have a value of ${before.name}. Rename it first, and change the rest then.`,
    )
  refuseOverlap(before.name, after.name)
  for (const { name } of await rulesIn(session, storage)) {
    if (name === before.name || name === after.name) continue
    const around = [before.name, after.name].find((one) => name.startsWith(`${one}.`))
    if (around !== undefined)
      throw new QuoinError(
        'CONFLICT',
        `The field ${name} is inside ${around}, and its rules would be passed over. Rename that one first.`,
        { fields: ['name'] },
      )
  }
  if (!isBegun) await refuseTaken(database, storage, after.name)
  return { documents }
}

/**
 * Values of documents follow a change by what each write adds to them, on every node. A node of another version does not do that, so that its
 * writes would be lost with the former name.
 */
export async function refuseOtherVersions(database: Database): Promise<void> {
  const nodes = (await database.capabilities.cluster?.nodes()) ?? []
  const own = nodes.find(({ self }) => self)?.version
  const other = nodes.find(({ live, version }) => live && version !== own)
  if (other)
    throw new QuoinError(
      'CONFLICT',
      `The node ${other.name} runs Quoin ${other.version} and this one ${own}. Values of documents follow a change when all nodes run one version.`,
      { fields: ['name'] },
    )
}

export function refuseOverlap(before: string, after: string): void {
  if (overlap(before, after))
    throw invalidField('name', `${before} cannot be moved into itself. Rename it to another name first.`)
}

/** Documents may have values that no field described until now. */
export async function refuseTaken(database: Database, storage: string, name: string): Promise<void> {
  const session = database.session()
  const query: Query = { kind: 'exists', field: name }
  const total = await session.count(storage, query)
  if (total === 0) return
  const found = await session.find(storage, search({ query, limit: MOST_LISTED }))
  const documents: JsonObject[] = documentsOf(found).map((document) => ({ guid: guidOf(document) }))
  throw new QuoinError(
    'CONFLICT',
    `${total} documents of the storage ${storage} have a value of ${name} already, which the rename would replace. Choose another name, or remove those values.`,
    { fields: ['name'], details: { total, documents } },
  )
}

/** Whether what documents are held against stays as it is. Labels and defaults may change. */
export function isOnlyRenamed(before: FieldRule, after: FieldRule): boolean {
  return sameJson(askedOf(before), askedOf(after))
}

function askedOf(rule: FieldRule) {
  const { name, label: _label, help: _help, order: _order, defaultValue: _value, unique, ...asked } = rule
  const { formerNames: _names, conversion: _conversion, ...rest } = asked
  return { ...rest, unique: unique && { ...unique, key: unique.key === name ? '' : unique.key } }
}

/** Each is looked for in every document that is restored. */
const MOST_FORMER = 20

export function formerNames(record: JsonObject, former: string, name: string): readonly string[] {
  const known = Array.isArray(record.former_names) ? record.former_names : []
  const names = known.filter((one) => typeof one === 'string')
  return [...new Set([...names, former])].filter((one) => one !== name).slice(-MOST_FORMER)
}
