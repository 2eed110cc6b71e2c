/** Makes the parts of a file through the API. */
import { isJsonObject, type JsonObject, type JsonValue } from '../json.ts'
import {
  type ApplicationParts,
  bodyOfPart,
  changeOfPart,
  formerOf,
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
  /** Removes what was made, and changes back what was changed. */
  readonly undo: () => Promise<void>
}

/** With `replace`, what is there and differs becomes what the file says. If one fails, everything is undone. */
export async function installParts(
  { find, call, stays }: PartsApi,
  parts: ApplicationParts,
  replace: boolean,
): Promise<PartsInstalled> {
  const done: Done[] = []
  const left: string[] = []
  const undo = async () => {
    for (const { name } of await undone(call, done.splice(0))) stays(name)
  }

  async function install(kind: PartKind, part: JsonObject, change = true): Promise<void> {
    const known = (await findPart(find, kind, part)) ?? (await renamed(kind, part))
    if (known === 'left') return
    const path = partPaths[kind]
    if (known === undefined) {
      const guid = guidOf(await call('POST', path, bodyOfPart(part)))
      done.push({ path: `${path}/${guid}`, name: nameOfPart(kind, part) })
      return
    }
    const changes = change ? changeOfPart(kind, partOf(kind, known), part) : undefined
    if (changes === undefined) return
    if (replace) {
      const at = `${path}/${guidOf(known)}`
      await call('PUT', at, changes)
      done.push({ path: at, name: nameOfPart(kind, part), former: formerOf(kind, known, changes) })
    } else left.push(nameOfPart(kind, part))
  }

  /** The field that has the former name, under the name of the file. Stored values follow by a job. */
  async function renamed(kind: PartKind, part: JsonObject): Promise<JsonObject | 'left' | undefined> {
    const { was, name = '', ...others } = part
    if (kind !== 'fields' || typeof was !== 'string') return undefined
    const former = await findPart(find, kind, { ...others, name: was })
    if (former === undefined) return undefined
    if (!replace) {
      left.push(nameOfPart(kind, { ...others, name: was }))
      return 'left'
    }
    const path = `${partPaths[kind]}/${guidOf(former)}`
    const record = await call('PUT', path, { name })
    done.push({ path, name: nameOfPart(kind, part), former: { name: was } })
    return isJsonObject(record) ? record : undefined
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

interface Done {
  readonly path: string
  readonly name: string
  /** What it was before, of what was changed; undefined of what was made. */
  readonly former?: JsonObject
}

/**
 * Undoes the last one first, and tries again what was refused as long as anything else is undone: a field that a rule of a
 * storage leads through goes only after that rule. Gives what stays.
 */
async function undone(call: PartsApi['call'], done: readonly Done[]): Promise<readonly Done[]> {
  let left = done.toReversed()
  for (;;) {
    const refused: Done[] = []
    for (const one of left) {
      const { path, former } = one
      const undoing = former ? call('PUT', path, former) : call('DELETE', path)
      await undoing.catch(() => void refused.push(one))
    }
    if (refused.length === 0 || refused.length === left.length) return refused
    left = refused
  }
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
