import type { RunRequest } from '../../../blocks/run-request.ts'
import type { Frame } from '../frame.ts'
import { plainValue } from './plain-value.ts'
import type { RunName } from './run-names.ts'

type Read = (frame: Frame) => unknown

/** How what a name of the run means is read. In a custom function, `params` are its parameters. */
export function runReader(name: RunName): Read {
  return readers[name]
}

/** As {@link runReader} for one field of it, without making an object of all. */
export function runFieldReader(name: RunName, key: string): Read {
  if (name === 'params') return (frame) => parameter(frame, key)
  const read = readers[name]
  return (frame) => own(read(frame), key)
}

const readers: Readonly<Record<RunName, Read>> = {
  params: (frame) => {
    const { parameters, run } = frame
    if (parameters)
      return Object.fromEntries(Object.entries(parameters).map(([id, one]) => [id, plainValue(one)]))
    const request = run.request ?? run.former
    return request && { ...firstOfEach(request.query), ...request.path, ...typedValues(frame) }
  },
  query: (frame) => {
    const request = frame.run.request ?? frame.run.former
    return request && (frame.sent ? { ...request.query, ...typedValues(frame) } : request.query)
  },
  body: ({ sent, run }) => (sent ? sent.given.body : (run.request ?? run.former)?.body),
  headers: ({ run }) => run.request?.headers,
  user: ({ run }) => run.user,
  request: ({ run }) => run.request && described(run.request),
  env: ({ run }) => run.env,
}

/** Fields of the address by the types of the trigger's schema, with their defaults. */
function typedValues(frame: Frame): Readonly<Record<string, unknown>> {
  const fields = [...(frame.sent?.fields ?? [])].map((field) => [field, parameter(frame, field)] as const)
  return Object.fromEntries(fields.filter(([, value]) => value !== undefined))
}

function described({ method, url, ip }: RunRequest): Readonly<Record<string, string>> {
  const end = url.indexOf('?')
  return { method, url, path: end < 0 ? url : url.slice(0, end), ip }
}

function parameter({ parameters, sent, run }: Frame, key: string): unknown {
  if (parameters) return plainValue(own(parameters, key))
  const request = run.request ?? run.former
  if (!request) return undefined
  if (sent?.fields.has(key)) {
    const value = own(sent.given, key)
    // A day stays the text that was sent: as a Date it would be an instant.
    if (!(value instanceof Date)) return plainValue(value)
  }
  if (Object.hasOwn(request.path, key)) return request.path[key]
  return first(own(request.query, key))
}

/** A name that is repeated in the query means its first value; `query` has all of them. */
function first(value: unknown): unknown {
  return Array.isArray(value) ? value[0] : value
}

function firstOfEach(query: RunRequest['query']): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(query).map(([name, value]) => [name, first(value)]))
}

function own(of: unknown, key: string): unknown {
  if (typeof of !== 'object' || of === null || !Object.hasOwn(of, key)) return undefined
  return Reflect.get(of, key)
}
