import { isJsonObject, type JsonObject, type JsonValue } from '../../shared/json.ts'
import { numberIn, objectsIn, textIn } from '../../storage/document-fields.ts'
import { findRecord } from '../find-record.ts'
import { guidOf, type Management, recordsOf } from '../management.ts'

const path = '/_system/waits'

/** Waits that one call lists. */
export const MOST_LISTED = 1_000

/** Of which waits: without a filter, of all. */
export interface WaitsRequest {
  /** Name or guid. */
  readonly blueprint: string | undefined
  readonly kind: string | undefined
}

/** The oldest first. */
export async function waitsOf(
  management: Management,
  { blueprint, kind }: WaitsRequest,
): Promise<readonly JsonObject[]> {
  const found = blueprint === undefined ? undefined : await findRecord(management, 'blueprints', blueprint)
  const filters = { ...(found && { blueprint: guidOf(found) }), ...(kind !== undefined && { kind }) }
  const body = { filters, limit: MOST_LISTED, sort: [{ '_meta.cms': 'asc' }] }
  return recordsOf(await management.call('POST', `${path}/search`, body))
}

/** Throws Refused when it has ended. */
export async function waitNamed(management: Management, guid: string): Promise<JsonValue> {
  return management.call('GET', pathOf(guid))
}

export async function cancelWait(management: Management, guid: string): Promise<void> {
  await management.call('DELETE', pathOf(guid))
}

export interface Continued {
  readonly way: string | undefined
  readonly comment: string | undefined
  /** What counts as sent. */
  readonly body: JsonValue | undefined
  /** On the deployed version. */
  readonly current: boolean
}

export async function continueWait(
  management: Management,
  guid: string,
  { way, comment, body, current }: Continued,
): Promise<void> {
  await management.call('POST', `${pathOf(guid)}/continue`, {
    ...(way !== undefined && { way }),
    ...(comment !== undefined && { comment }),
    ...(body !== undefined && { body }),
    ...(current && { version: 'current' }),
  })
}

/** Runs of a blueprint that one call after the other has moved, and those that stay: a line of each. */
export async function moveWaits(
  management: Management,
  blueprint: string,
  requested: { readonly again: boolean; readonly dry_run: boolean },
): Promise<{ readonly moved: number; readonly continued: number; readonly unmoved: readonly string[] }> {
  const named = { blueprint: guidOf(await findRecord(management, 'blueprints', blueprint)), ...requested }
  let [moved, continued] = [0, 0]
  const unmoved: string[] = []
  let after: JsonValue = null
  do {
    const body: JsonObject = after === null ? named : { ...named, after }
    const reply = await management.call('POST', `${path}/move`, body)
    if (!isJsonObject(reply)) break
    moved += numberIn(reply.moved)
    continued += numberIn(reply.continued)
    for (const one of objectsIn(reply.kept)) unmoved.push(`${textIn(one.wait)}\t${textIn(one.reason)}`)
    after = reply.next ?? null
  } while (after !== null)
  return { moved, continued, unmoved }
}

/** Unix seconds. */
export function begunAt({ _meta: meta }: JsonObject): number {
  return isJsonObject(meta) && typeof meta.created === 'number' ? meta.created : 0
}

function pathOf(guid: string): string {
  return `${path}/${encodeURIComponent(guid)}`
}
