/** The parts that the file of a blueprint takes along. */
import type { Block } from '../blueprint.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../json.ts'
import { managementScopes } from '../management-scopes.ts'
import {
  type ApplicationParts,
  MOST_PARTS,
  type PartKind,
  partKinds,
  partOf,
  partPaths,
} from './application-parts.ts'

/** Searches the API; undefined if the caller may not see such records. */
export type FindRecords = (path: string, body: JsonObject) => Promise<readonly JsonObject[] | undefined>

export interface PartsRead {
  readonly parts: ApplicationParts
  /** What the caller may not see, and what is therefore left out. */
  readonly hidden: readonly PartKind[]
}

/** How many steps of references lead to further storages. */
const MOST_ROUNDS = 10

/**
 * - The storages that blocks name, and those that their documents refer to, where they have more than a name; they are made
 *   without it. A storage that is only referred to keeps its rules, or its documents would be open where the file is imported.
 * - The fields of all these storages.
 * - The templates of pages.
 * - The groups with a scope that a block asks for. Groups that also administer Quoin belong to the cluster and stay there.
 */
export async function readParts(find: FindRecords, blocks: readonly Block[]): Promise<PartsRead> {
  const storages = storagesIn(blocks)
  const fields = await fieldsOf(find, storages)
  for (const { reference } of fields ?? [])
    if (isJsonObject(reference) && isName(reference.storage)) storages.add(reference.storage)
  const found: Record<PartKind, readonly JsonObject[] | undefined> = {
    groups: await groupsWith(find, new Set(blocks.flatMap(({ scopes }) => scopes))),
    storages: await named(find, 'storages', storages),
    fields,
    templates: await named(find, 'templates', literals(blocks, 'template')),
  }
  const parts = (kind: PartKind) => (found[kind] ?? []).map((record) => partOf(kind, record))
  return {
    parts: {
      groups: parts('groups'),
      storages: parts('storages').filter((part) => Object.keys(part).length > 1),
      fields: parts('fields'),
      templates: parts('templates'),
    },
    hidden: partKinds.filter((kind) => found[kind] === undefined),
  }
}

function storagesIn(blocks: readonly Block[]): Set<string> {
  const chosen = blocks.map(({ fields }) => fields.storage)
  return new Set([...literals(blocks, 'storage'), ...chosen.filter(isName)])
}

function literals(blocks: readonly Block[], pin: string): Set<string> {
  const values = blocks.flatMap(({ in_pins }) => in_pins.filter(({ id }) => id === pin))
  return new Set(values.map(({ value }) => value).filter(isName))
}

async function fieldsOf(find: FindRecords, input: Set<string>): Promise<JsonObject[] | undefined> {
  const storages = new Set(input)
  const records: JsonObject[] = []
  const read = new Set<string>()
  for (let round = 0; round < MOST_ROUNDS; round++) {
    const next = [...storages].filter((storage) => !read.has(storage)).slice(0, MOST_PARTS)
    for (const storage of next) {
      read.add(storage)
      const found = await find(`${partPaths.fields}/search`, { filters: { storage }, limit: MOST_PARTS })
      if (found === undefined) return undefined
      records.push(...found)
      for (const { reference } of found)
        if (isJsonObject(reference) && isName(reference.storage)) storages.add(reference.storage)
    }
    if (next.length === 0 || records.length >= MOST_PARTS) break
  }
  return inOrder(records.slice(0, MOST_PARTS), ({ storage, order, name }) => [
    String(storage),
    String(typeof order === 'number' ? order + 1e9 : '~'),
    String(name),
  ])
}

async function named(
  find: FindRecords,
  kind: PartKind,
  names: Set<string>,
): Promise<JsonObject[] | undefined> {
  const records: JsonObject[] = []
  for (const name of [...names].slice(0, MOST_PARTS)) {
    const found = await find(`${partPaths[kind]}/search`, { filters: { name }, limit: 1 })
    if (found === undefined) return undefined
    records.push(...found)
  }
  return inOrder(records, ({ name }) => [String(name)])
}

async function groupsWith(find: FindRecords, scopes: Set<string>): Promise<JsonObject[] | undefined> {
  const asked = [...scopes].filter((scope) => !scope.startsWith('*') && !managementScopes.includes(scope))
  if (asked.length === 0) return []
  const found = await find(`${partPaths.groups}/search`, { limit: MOST_PARTS })
  const requested = found?.filter((group) => {
    const held = Array.isArray(group.scopes) ? group.scopes.map(String) : []
    return (
      group.is_active !== false &&
      asked.some((scope) => held.includes(scope)) &&
      held.every((scope) => scope !== '*' && !managementScopes.includes(scope))
    )
  })
  return requested && inOrder(requested, ({ name }) => [String(name)])
}

/** The same order in each export, so that a diff shows what changed. */
function inOrder(records: readonly JsonObject[], keys: (record: JsonObject) => string[]): JsonObject[] {
  const text = (record: JsonObject) => JSON.stringify(keys(record))
  return records.toSorted((a, b) => (text(a) < text(b) ? -1 : 1))
}

function isName(value: JsonValue | undefined): value is string {
  return typeof value === 'string' && value !== ''
}
