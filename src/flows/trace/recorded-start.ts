import type { RunRequest } from '../../blocks/run-request.ts'
import { QuoinError } from '../../shared/errors.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../shared/json.ts'
import type { CompiledBlueprint } from '../compile/compile-blueprint.ts'
import { type Secrets, showValue } from '../values/shown-value.ts'
import { type Caller, readRequest } from './recorded-request.ts'
import type { FlowOfTrigger } from './traced-flows.ts'

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
