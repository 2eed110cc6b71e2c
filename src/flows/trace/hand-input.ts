/** The input with which a person runs a trigger: what it means depends on the trigger. */
import type { PageVisit, RunRequest } from '../../blocks/run-request.ts'
import { changedKeys, documentRevisions } from '../../records/documents/document-revisions.ts'
import { invalidField, QuoinError } from '../../shared/errors.ts'
import { type Failure, failureEvents, isFailureEvent, type ReportedFailure } from '../../shared/failure.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../shared/json.ts'
import { textIn } from '../../storage/document-fields.ts'
import type { CompiledBlueprint } from '../compile/compile-blueprint.ts'
import type { CompiledStorageEvent } from '../compile/frame.ts'
import { type Caller, lookingVisit, type ManualStart, requestOf } from './recorded-request.ts'
import type { FlowOfTrigger } from './traced-flows.ts'

export interface HandInput {
  readonly compiled: CompiledBlueprint
  readonly trigger: FlowOfTrigger
  readonly input: JsonObject
  /** undefined: anonymous. Only requests have a caller. */
  readonly caller: Caller | undefined
  /** Stands for the guid of a job or tick. */
  readonly guid: string
  /** Milliseconds since 1970. */
  readonly now: number
}

/** Throws INVALID_BODY for what the trigger cannot take. */
export function handStart({ compiled, trigger, input, caller, guid, now }: HandInput): ManualStart {
  const { flow } = trigger
  const of = <T extends { readonly flow: unknown }>(all: Iterable<T>): T | undefined =>
    [...all].find((one) => one.flow === flow)
  const requested = of<CompiledBlueprint['endpoints' | 'pages'][number]>([
    ...compiled.endpoints,
    ...compiled.pages,
  ])
  if (requested) {
    const visit = trigger.type === 'page' ? lookingVisit : undefined
    const request = handRequest(trigger, input, caller, visit)
    return { request, input: requested.start(request) }
  }
  const called = of(compiled.functions.values())
  if (called) return { input: called.start({ job: guid, ...input }) }
  const schedule = of(compiled.schedules)
  if (schedule) {
    only(input, ['planned_at'])
    return { input: schedule.start({ plannedAt: timeIn(input.planned_at, now), tick: guid }) }
  }
  const event = of(compiled.storageEvents)
  if (event) return { input: event.start(storageHappening(event, input, guid)) }
  const failure = of(compiled.failureEvents)
  if (failure)
    return { input: failure.start(reportedFailure(failure.listening.events, input, compiled.guid, now)) }
  throw new QuoinError('CONFLICT', `${trigger.label} cannot be run by hand.`)
}

function handRequest(
  { type, label }: FlowOfTrigger,
  input: JsonObject,
  caller: Caller | undefined,
  visit: PageVisit | undefined,
): RunRequest {
  only(input, ['method', 'params', 'query', 'headers', 'body'])
  const [first = '', address = ''] = type === 'page' ? ['GET', label] : label.split(' ', 2)
  const method = first === 'ANY' ? textIn(input.method) || 'GET' : first
  const params = objectIn(input, 'params')
  const path = address.replace(/\{(\w+)(?:\.\.\.)?\}|:(\w+)/g, (_all, braced?: string, colon?: string) =>
    encodeURIComponent(textIn(params[braced ?? colon ?? ''])),
  )
  const recorded = {
    method,
    // As its client would ask for it: a signature may cover it.
    path: `${type === 'page' ? '' : '/api/v1'}${path.startsWith('/') ? path : `/${path}`}`,
    params: inTexts(params),
    query: inTexts(objectIn(input, 'query')),
    headers: inTexts(objectIn(input, 'headers')),
    body: input.body ?? null,
    ...(input.body !== undefined && { raw_body: JSON.stringify(input.body) }),
  }
  return requestOf(recorded, caller, visit)
}

/** Values of an address and of headers are text; a form made from a schema may send numbers. */
function inTexts(values: JsonObject): JsonObject {
  const entries = Object.entries(values).flatMap(([name, value]): [string, JsonValue][] =>
    value === null || value === '' ? [] : [[name, textOf(value)]],
  )
  return Object.fromEntries(entries)
}

function textOf(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(textOf)
  return typeof value === 'string' ? value : JSON.stringify(value)
}

function storageHappening(
  { listening: { events } }: CompiledStorageEvent,
  input: JsonObject,
  job: string,
): Parameters<CompiledStorageEvent['start']>[0] {
  only(input, ['event', 'document', 'previous'])
  const query = input.event ?? events[0]
  const event = events.find((one) => one === query)
  if (event === undefined) throw invalidField('input.event', `event must be one of ${events.join(', ')}.`)
  const document = optionalObject(input, 'document')
  const previous = optionalObject(input, 'previous')
  if (!document)
    throw invalidField('input.document', 'document must be an object: the document of the event.')
  // As for real events: without the former state every field of a changed document would look as if it were new.
  const compared = event !== 'on_deleted' && (previous !== undefined || event === 'on_created')
  const revisions = compared ? documentRevisions(previous, document) : []
  return { event, document, previous, fieldsModified: changedKeys(revisions), revisions, job }
}

const failureTexts = ['block', 'pin', 'trigger', 'code', 'message', 'run', 'job', 'name'] as const

function reportedFailure(
  events: readonly Failure['event'][],
  input: JsonObject,
  blueprint: string,
  now: number,
): ReportedFailure {
  only(input, ['event', 'blueprint', 'time', 'since', 'count', ...failureTexts])
  const event = input.event ?? events[0] ?? failureEvents[0]
  if (!isFailureEvent(event) || !events.includes(event))
    throw invalidField('input.event', `event must be one of ${events.join(', ')}.`)
  const text = (name: (typeof failureTexts)[number] | 'blueprint', otherwise = '') =>
    input[name] === undefined ? otherwise : textIn(input[name])
  const time = timeIn(input.time, now).getTime()
  return {
    event,
    blueprint: text('blueprint', blueprint),
    name: text('name'),
    block: text('block'),
    pin: text('pin'),
    trigger: text('trigger'),
    code: text('code', 'INTERNAL'),
    message: text('message', 'Run by hand'),
    run: text('run'),
    job: text('job'),
    count: typeof input.count === 'number' ? input.count : 1,
    time,
    since: timeIn(input.since, time).getTime(),
  }
}

function timeIn(value: JsonValue | undefined, otherwise: number): Date {
  if (value === undefined || value === null || value === '') return new Date(otherwise)
  const time = typeof value === 'string' || typeof value === 'number' ? new Date(value) : undefined
  if (!time || Number.isNaN(time.getTime()))
    throw invalidField('input', `A time must be in ISO 8601; got ${JSON.stringify(value).slice(0, 60)}.`)
  return time
}

function only(input: JsonObject, names: readonly string[]): void {
  const other = Object.keys(input).find((name) => !names.includes(name))
  if (other !== undefined)
    throw invalidField(
      'input',
      `input has no field ${JSON.stringify(other.slice(0, 60))} here; it takes ${names.join(', ')}.`,
    )
}

function optionalObject(input: JsonObject, name: string): JsonObject | undefined {
  const value = input[name]
  if (value === undefined || value === null) return undefined
  if (!isJsonObject(value)) throw invalidField(`input.${name}`, `${name} must be an object.`)
  return value
}

function objectIn(input: JsonObject, name: string): JsonObject {
  return optionalObject(input, name) ?? {}
}
