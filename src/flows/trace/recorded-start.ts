import type { RunRequest } from '../../blocks/run-request.ts'
import { QuoinError } from '../../shared/errors.ts'
import { isJsonObject, type JsonObject } from '../../shared/json.ts'
import type { CompiledBlueprint } from '../compile/compile-blueprint.ts'
import { readGiven } from './plain-given.ts'
import { type Caller, readRequest } from './recorded-request.ts'
import type { FlowOfTrigger } from './traced-flows.ts'

/** What a run begins with. */
export interface GivenStart {
  readonly given: Readonly<Record<string, unknown>>
  readonly request?: RunRequest
}

/** What a recorded run began with. CONFLICT if it was not kept. */
export function recordedStart(
  compiled: CompiledBlueprint,
  { flow, type }: FlowOfTrigger,
  detail: JsonObject,
  caller: Caller | undefined,
): GivenStart {
  const request = isJsonObject(detail.request) ? readRequest(detail.request, type, caller) : undefined
  const trigger = [...compiled.endpoints, ...compiled.pages].find((one) => one.flow === flow)
  if (trigger && request) return { request, given: trigger.start(request) }
  const given = type === 'http' || type === 'page' ? undefined : readGiven(detail.given)
  if (given) return { given }
  throw new QuoinError('CONFLICT', 'The input of the run was too long to be recorded.')
}
