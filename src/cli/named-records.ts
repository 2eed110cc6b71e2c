/** Records that have a unique name, as commands work with them: values of the environment, secrets, connections. */
import type { JsonObject } from '../shared/json.ts'
import { nearestName } from '../shared/names/nearest-name.ts'
import { textIn } from '../storage/document-fields.ts'
import { guidOf, type Management, Refused, recordsOf } from './management.ts'

export interface NamedKind {
  /** Below /api/v1. */
  readonly path: string
  /** For messages: `secret`. */
  readonly noun: string
  /** Records of a cluster. */
  readonly most: number
}

/** By name. */
export async function allNamed(
  management: Management,
  { path, most }: NamedKind,
): Promise<readonly JsonObject[]> {
  return recordsOf(await management.call('POST', `${path}/search`, { limit: most, sort: [{ name: 'asc' }] }))
}

/** Adds the record, or changes the one of that name. */
export async function setNamed(
  management: Management,
  kind: NamedKind,
  name: string,
  fields: JsonObject,
): Promise<void> {
  const known = await found(management, kind, name)
  if (known) await management.call('PUT', `${kind.path}/${guidOf(known)}`, fields)
  else await management.call('POST', kind.path, { name, ...fields })
}

/** Throws Refused as {@link recordNamed}. */
export async function removeNamed(management: Management, kind: NamedKind, name: string): Promise<void> {
  await management.call('DELETE', `${kind.path}/${guidOf(await recordNamed(management, kind, name))}`)
}

/** Throws Refused, with the nearest name, when there is none. */
export async function recordNamed(
  management: Management,
  kind: NamedKind,
  name: string,
): Promise<JsonObject> {
  const record = await found(management, kind, name)
  if (record) return record
  const names = (await allNamed(management, kind)).map((one) => textIn(one.name))
  const nearest = nearestName(name, names)
  const advice = nearest === undefined ? '' : ` Did you mean ${nearest}?`
  throw new Refused(`There is no ${kind.noun} ${JSON.stringify(name)}.${advice}`, 404)
}

/** Warns of each name that is not there. A deploy warns by itself. `reported`: the sentence, `unknown` without the scope to look. */
export async function warnOfMissing(
  management: Management,
  kind: NamedKind,
  requested: readonly string[],
  reported: { readonly missing: (name: string) => string; readonly unknown: (name: string) => string },
  warn: (text: string) => void,
): Promise<void> {
  if (requested.length === 0) return
  const names = await namesSet(management, kind)
  for (const name of requested)
    if (!names?.includes(name)) warn(names ? reported.missing(name) : reported.unknown(name))
}

/** undefined where the caller lacks the scope, or the server is of a version without such records. */
async function namesSet(management: Management, kind: NamedKind): Promise<readonly string[] | undefined> {
  try {
    return (await allNamed(management, kind)).map(({ name }) => textIn(name))
  } catch (error) {
    if (error instanceof Refused && (error.status === 403 || error.status === 404)) return undefined
    throw error
  }
}

async function found(
  management: Management,
  { path }: NamedKind,
  name: string,
): Promise<JsonObject | undefined> {
  const [record] = recordsOf(await management.call('POST', `${path}/search`, { filters: { name }, limit: 1 }))
  return record
}
