/** Makes the parts of a file through the API. */
import { isJsonObject, type JsonObject, type JsonValue } from '../json.ts'
import {
  type ApplicationParts,
  bodyOfPart,
  changeOfPart,
  nameOfPart,
  type PartKind,
  partKinds,
  partOf,
  partPaths,
} from './application-parts.ts'
import type { FindRecords } from './read-parts.ts'

export interface PartsApi {
  readonly find: FindRecords
  /** Gives the reply's body. Throws for any reply but 2xx. */
  readonly call: (method: 'POST' | 'PUT' | 'DELETE', path: string, body?: JsonObject) => Promise<JsonValue>
  /** Told of each part, in words, that was made and could not be removed again. */
  readonly stays: (part: string) => void
}

export interface PartsInstalled {
  /** What is there, differs and was left as it is, in words. */
  readonly left: readonly string[]
  /** Removes what was made. What was changed stays changed. */
  readonly undo: () => Promise<void>
}

/** With `replace`, what is there and differs becomes what the file says. If one fails, those that were made are removed again. */
export async function installParts(
  { find, call, stays }: PartsApi,
  parts: ApplicationParts,
  replace: boolean,
): Promise<PartsInstalled> {
  const made: { readonly path: string; readonly name: string }[] = []
  const left: string[] = []
  const undo = async () => {
    for (const { path, name } of made.splice(0).toReversed())
      await call('DELETE', path).catch(() => stays(name))
  }

  async function install(kind: PartKind, part: JsonObject, change = true): Promise<void> {
    const known = await findPart(find, kind, part)
    const path = partPaths[kind]
    if (known === undefined) {
      const guid = guidOf(await call('POST', path, bodyOfPart(part)))
      made.push({ path: `${path}/${guid}`, name: nameOfPart(kind, part) })
      return
    }
    const changes = change ? changeOfPart(kind, partOf(kind, known), part) : undefined
    if (changes === undefined) return
    if (replace) await call('PUT', `${path}/${guidOf(known)}`, changes)
    else left.push(nameOfPart(kind, part))
  }

  try {
    for (const kind of partKinds) {
      if (kind === 'fields')
        for (const name of referredIn(parts.fields)) await install('storages', { name }, false)
      for (const part of parts[kind]) await install(kind, part)
    }
  } catch (error) {
    await undo()
    throw error
  }
  return { left, undo }
}

/** The storages that fields refer to must be there before them. */
function referredIn(fields: readonly JsonObject[]): Set<string> {
  const references = fields.map(({ reference }) => (isJsonObject(reference) ? reference.storage : undefined))
  return new Set(references.filter((storage) => typeof storage === 'string'))
}

async function findPart(
  find: FindRecords,
  kind: PartKind,
  part: JsonObject,
): Promise<JsonObject | undefined> {
  const { name = '', storage = null } = part
  const filters: JsonObject = kind === 'fields' && storage !== null ? { name, storage } : { name }
  const found = await find(`${partPaths[kind]}/search`, { filters, limit: 100 })
  return found?.find((one) => one.name === name && (kind !== 'fields' || (one.storage ?? null) === storage))
}

function guidOf(record: JsonValue): string {
  const meta = isJsonObject(record) ? record._meta : undefined
  return isJsonObject(meta) ? String(meta.guid) : ''
}
