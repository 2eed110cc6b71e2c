import type { ObjectType, ValueType } from '../../expressions/language/value-types.ts'
import { isLargerThan } from '../../shared/json.ts'
import type { EndpointReply, RepliesBy, ValueShape } from '../values/value-shape.ts'
import type { Node } from './blueprint-graph.ts'
import type { Facts } from './constants/fold-constants.ts'
import { reachableBlocks } from './graph-wiring.ts'
import { hasMoreParts, ReplyTypes } from './reply-types.ts'

/** The blocks that send what a flow replies. */
const REPLIES = new Set(['httpconnection_set_json', 'reply'])
export function isReply({ definition }: Node): boolean {
  return REPLIES.has(definition.identifier)
}

/** Content types of what the block `reply` sends, by its setting `kind`, unless it is JSON. */
const TYPES: Readonly<Record<string, string>> = {
  ...{ text: 'text/plain', html: 'text/html', csv: 'text/csv' },
  // The type of a file is known when it is sent.
  file: '*/*',
}

/** Of a reply that is described. */
const MOST_VALUES = 10_000
const MOST_CHARACTERS = 256 * 1024

/** The content type that a flow gives its text, where each run gives the same. */
function typeIn(headers: unknown): string | undefined {
  if (typeof headers !== 'object' || headers === null) return undefined
  const [, type] = Object.entries(headers).find(([name]) => name.toLowerCase() === 'content-type') ?? []
  return typeof type === 'string' ? type.split(';', 1)[0]?.trim() : undefined
}

/**
 * The replies that a trigger's reply blocks send. Types of values come from the checker of expressions; blocks that make
 * values are evaluated with samples of the types of their pins.
 */
export function deriveReplies(trigger: Node, facts: Facts): RepliesBy {
  const reached = reachableBlocks(trigger, facts)
  const replies = reached.filter(isReply)
  return (fieldsOf) => {
    const types = new ReplyTypes({ trigger, reached, facts, fieldsOf })
    return replies.flatMap((node): EndpointReply[] => {
      const kind = String(node.settings.kind ?? 'json')
      const own = kind === 'text' ? typeIn(types.plainAt(node, 'headers')) : undefined
      const type = own ?? TYPES[kind]
      const code = types.plainAt(node, 'code')
      const known = node.wires.has('code') ? code : (code ?? (kind === 'redirect' ? 303 : 200))
      const status = typeof known === 'number' && known >= 200 ? known : undefined
      if (kind === 'redirect') return [{ code: status, value: { kind: 'unknown' }, type: '' }]
      if (type !== undefined) return [{ code: status, value: { kind: 'scalar', type: 'string' }, type }]
      return types.typesAt(node, 'value').map((one) => ({ code: status, value: readableShape(one) }))
    })
  }
}

/** Forty objects that hold each other twice have 2 to the 40 fields: too many for a person to read. */
function readableShape(type: ValueType): ValueShape {
  if (hasMoreParts(type, MOST_VALUES)) return { kind: 'unknown' }
  const shape = shapeOfType(type)
  return isLargerThan(shape, MOST_VALUES, MOST_CHARACTERS) ? { kind: 'unknown' } : shape
}

/** What a type of the checker says of a value in a reply. */
function shapeOfType(type: ValueType): ValueShape {
  if (type.kind !== 'object' && type.field)
    return { kind: 'field', storage: type.field.storage, name: type.field.path }
  switch (type.kind) {
    case 'any':
      return { kind: 'unknown' }
    case 'text':
      return { kind: 'scalar', type: 'string' }
    case 'number':
      return { kind: 'scalar', type: 'number' }
    case 'whole':
      return { kind: 'scalar', type: 'integer' }
    case 'condition':
      return { kind: 'scalar', type: 'boolean' }
    case 'nothing':
      return { kind: 'scalar', type: 'null' }
    case 'list':
      return { kind: 'list', items: shapeOfType(type.of) }
    case 'object':
      return shapeOfObject(type)
  }
}

function shapeOfObject(type: ObjectType): ValueShape {
  const document = type.copyOf ?? (type.stored?.path === '' ? type : undefined)
  if (type.stored && !document)
    return { kind: 'field', storage: type.stored.storage, name: type.stored.path.slice(0, -1) }
  // Of a document only its storage is named: the description has its fields once.
  const own = document === type ? {} : type.fields
  const { storage, expand = [] } = document?.stored ?? {}
  return {
    kind: 'object',
    fields: Object.fromEntries(Object.entries(own).map(([name, field]) => [name, fieldShape(field)])),
    storage,
    ...(expand.length > 0 && { expand }),
    ...(type.without && { without: type.without }),
    open: type.open,
  }
}

/** A field that is nothing in each run, as far as the checker can tell, is mostly one that it does not know. */
function fieldShape(type: ValueType): ValueShape {
  return type.kind === 'nothing' ? { kind: 'unknown' } : shapeOfType(type)
}
