import type { DocumentSearch } from '../../shared/api/data/documents.ts'
import type { MovedWaits, Wait } from '../../shared/api/operate/waits.ts'
import type { JsonObject } from '../../shared/json.ts'
import type { RecordPage } from '../../shared/record-page.ts'
import { queryClient } from './query-client.ts'
import { call, search } from './request.ts'

const path = '/_system/waits'

export function findWaits(body: DocumentSearch, signal: AbortSignal): Promise<RecordPage<Wait>> {
  return search<Wait>(`${path}/search`, body, signal)
}

export function readWait(guid: string, signal: AbortSignal): Promise<Wait> {
  return call<Wait>('GET', `${path}/${guid}`, { signal })
}

/** The run goes on as a job. `ended`: the way, and what comes with it. */
export async function continueWait(guid: string, ended: JsonObject): Promise<void> {
  await call('POST', `${path}/${guid}/continue`, { body: ended })
}

/** To the deployed version of their blueprint. */
export function moveWaits(wanted: JsonObject): Promise<MovedWaits> {
  return call<MovedWaits>('POST', `${path}/move`, { body: wanted })
}

export async function cancelWait(guid: string): Promise<void> {
  await call('DELETE', `${path}/${guid}`)
}

/** The jobs of waits change with them. */
export async function forgetWaits(): Promise<void> {
  await queryClient.invalidateQueries({ queryKey: ['waits'] })
  await queryClient.invalidateQueries({ queryKey: ['jobs'] })
}
