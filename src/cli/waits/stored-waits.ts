import { isJsonObject, type JsonObject, type JsonValue } from '../../shared/json.ts'
import { findRecord } from '../find-record.ts'
import { guidOf, type Management, recordsOf } from '../management.ts'

const path = '/_system/waits'

/** Waits that one call lists. */
export const MOST_LISTED = 1_000

/** Of which waits: without a filter, of all. */
export interface WantedWaits {
  /** Name or guid. */
  readonly blueprint: string | undefined
  readonly kind: string | undefined
}

/** The oldest first. */
export async function waitsOf(
  management: Management,
  { blueprint, kind }: WantedWaits,
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
}

export async function continueWait(
  management: Management,
  guid: string,
  { way, comment, body }: Continued,
): Promise<void> {
  await management.call('POST', `${pathOf(guid)}/continue`, {
    ...(way !== undefined && { way }),
    ...(comment !== undefined && { comment }),
    ...(body !== undefined && { body }),
  })
}

/** Unix seconds. */
export function begunAt({ _meta: meta }: JsonObject): number {
  return isJsonObject(meta) && typeof meta.created === 'number' ? meta.created : 0
}

function pathOf(guid: string): string {
  return `${path}/${encodeURIComponent(guid)}`
}
