import type { Listens } from '../../blocks/block.ts'
import type { PageVisit, RunRequest, SignatureFinding } from '../../blocks/run-request.ts'
import { QuoinError } from '../../shared/errors.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../shared/json.ts'
import { textIn, textsIn } from '../../storage/document-fields.ts'
import type { CompiledBlueprint } from '../compile/compile-blueprint.ts'
import { type Secrets, showValue } from '../values/shown-value.ts'
import { isCut } from './recorded-outside.ts'
import type { FlowOfTrigger } from './traced-flows.ts'

/** For whom a run is repeated: as they are now, not as they were. */
export interface Caller {
  /** The user's document without secrets. */
  readonly user: JsonObject
  readonly scopes: ReadonlySet<string>
}

/** A visit that only shows the page and submits nothing. */
export const lookingVisit: PageVisit = {
  beginAgain: () => undefined,
  show: () => false,
  proceed: () => undefined,
  finish: () => undefined,
  submitted: undefined,
}

/** The request of a record, to be run again. CONFLICT if it cannot be. */
export function readRequest(recorded: JsonObject, type: Listens, caller: Caller | undefined): RunRequest {
  if (isCut(recorded)) throw new QuoinError('CONFLICT', 'The request was too long to be recorded completely.')
  const method = textIn(recorded.method)
  const isPage = type === 'page'
  if (isPage && method !== 'GET')
    throw new QuoinError('CONFLICT', 'Submitted forms cannot be replayed, only views of a page.')
  return requestOf(recorded, caller, isPage ? lookingVisit : undefined)
}

/** A request with the fields of a record, complete. */
export function requestOf(
  recorded: JsonObject,
  caller: Caller | undefined,
  visit: PageVisit | undefined,
): RunRequest {
  const query = textsBy(recorded.query)
  const path = textIn(recorded.path)
  const pairs = Object.entries(query).flatMap(([name, value]) =>
    (typeof value === 'string' ? [value] : value).map((one): [string, string] => [name, one]),
  )
  const params = Object.entries(isJsonObject(recorded.params) ? recorded.params : {})
  return {
    method: textIn(recorded.method),
    url: pairs.length === 0 ? path : `${path}?${new URLSearchParams(pairs)}`,
    headers: textsBy(recorded.headers),
    ip: '127.0.0.1',
    query,
    path: Object.fromEntries(params.map(([name, value]) => [name, textIn(value)])),
    body: recorded.body ?? undefined,
    ...rawBodyOf(recorded),
    signatures: { found: {}, recorded: signaturesIn(recorded.signatures) },
    user: caller?.user,
    ...(caller && { scopes: caller.scopes }),
    ...(visit && { visit }),
  }
}

/** As it was sent; of a request without a body it is empty. */
function rawBodyOf({ raw_body: raw, body }: JsonObject): Pick<RunRequest, 'rawBody'> {
  if (typeof raw === 'string') return { rawBody: Buffer.from(raw) }
  return body === undefined || body === null ? { rawBody: new Uint8Array() } : {}
}

const findings: readonly SignatureFinding[] = ['valid', 'missing', 'too_old', 'wrong']

function signaturesIn(value: JsonValue | undefined): Record<string, readonly SignatureFinding[]> {
  const entries = Object.entries(isJsonObject(value) ? value : {})
  return Object.fromEntries(
    entries.map(([block, found]) => [
      block,
      textsIn(found).flatMap((text) => findings.find((one) => one === text) ?? []),
    ]),
  )
}

function textsBy(value: JsonValue | undefined): Record<string, string | readonly string[]> {
  const entries = Object.entries(isJsonObject(value) ? value : {})
  return Object.fromEntries(
    entries.map(([name, one]) => [name, typeof one === 'string' ? one : textsIn(one)]),
  )
}

// What a trigger without a request gave, as JSON that can be given again: dates keep that they are dates.

const MOST_BYTES = 64 * 1024

/** null if it is too long to be kept. */
export function plainInput(input: Readonly<Record<string, unknown>>, secrets: Secrets): JsonValue {
  const marked = Object.fromEntries(
    Object.entries(input).map(([pin, value]) => [pin, value instanceof Date ? { $date: value } : value]),
  )
  const { text, whole } = showValue(marked, secrets, MOST_BYTES)
  return whole ? JSON.parse(text) : null
}

/** undefined if nothing was kept. */
function readInput(plain: JsonValue | undefined): Readonly<Record<string, unknown>> | undefined {
  if (!isJsonObject(plain)) return undefined
  return Object.fromEntries(
    Object.entries(plain).map(([pin, value]) => [
      pin,
      isJsonObject(value) && typeof value.$date === 'string' ? new Date(value.$date) : value,
    ]),
  )
}

/** What a run begins with. */
export interface ManualStart {
  readonly input: Readonly<Record<string, unknown>>
  readonly request?: RunRequest
}

/** What a recorded run began with. CONFLICT if it was not kept. */
export function recordedStart(
  compiled: CompiledBlueprint,
  { flow, type }: FlowOfTrigger,
  detail: JsonObject,
  caller: Caller | undefined,
): ManualStart {
  const request = isJsonObject(detail.request) ? readRequest(detail.request, type, caller) : undefined
  const trigger = [...compiled.endpoints, ...compiled.pages].find((one) => one.flow === flow)
  if (trigger && request) return { request, input: trigger.start(request) }
  const input = type === 'http' || type === 'page' ? undefined : readInput(detail.given)
  if (input) return { input }
  throw new QuoinError('CONFLICT', 'The input of the run was too long to be recorded.')
}
