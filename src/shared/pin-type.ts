/** What a pin carries. `flow` carries no value: it says when a block runs. */
export const pinTypes = [
  'flow',
  'value',
  /** Text without line breaks. */
  'line',
  'number',
  'condition',
  'object',
  'array',
  'date',
  'file',
  'document',
  'documents',
  'storage',
  'query',
  'sort',
  'mutations',
  'connection',
  'user',
  'state',
  'function',
  'secret',
  'http_connection',
  'any',
] as const

export type PinType = (typeof pinTypes)[number]

/**
 * Which other types an in-pin takes, beside its own and `any`. A conversion may still fail for one value ("abc" is no
 * number): that is found when the flow runs, and is the requester's fault when the value came with the request.
 */
const takes: Partial<Record<PinType, readonly PinType[]>> = {
  value: ['line', 'number', 'condition', 'date', 'function'],
  line: ['value', 'number', 'condition', 'date', 'function'],
  number: ['value', 'line', 'condition', 'date'],
  condition: ['value', 'line', 'number'],
  object: ['document', 'user', 'value'],
  array: ['documents', 'value', 'line'],
  date: ['value', 'line', 'number'],
  document: ['object', 'user'],
  documents: ['array'],
  user: ['object', 'document'],
  function: ['value', 'line'],
}

/** These exist only inside a run; they are no JSON, so nothing but their own type takes them, not even `any`. */
const opaque: ReadonlySet<PinType> = new Set([
  'storage',
  'query',
  'sort',
  'mutations',
  'connection',
  'state',
  'secret',
  'http_connection',
])

/** Whether a wire may run from a pin that gives `from` to one that takes `to`. */
export function canConvert(from: PinType, to: PinType): boolean {
  if (from === to) return true
  if (from === 'flow' || to === 'flow') return false
  if (opaque.has(from) || opaque.has(to)) return false
  if (from === 'any' || to === 'any') return true
  return takes[to]?.includes(from) ?? false
}

/** Pins whose literal is the name of a record: what it means is found when the block runs. */
export type NamedType = 'secret' | 'http_connection'

export function isNamedType(type: PinType): type is NamedType {
  return type === 'secret' || type === 'http_connection'
}
