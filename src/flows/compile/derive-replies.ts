import type { Argument, Entry, Spread } from '../../expressions/language/expression.ts'
import { partsOf } from '../../expressions/language/expression-parts.ts'
import { isJsonObject } from '../../shared/json.ts'
import { isLargerThan } from '../../shared/json-size.ts'
import type { PinType } from '../../shared/pin-type.ts'
import type { EndpointReply, ValueShape } from '../values/value-shape.ts'
import type { Node } from './blueprint-graph.ts'
import type { Facts } from './constants/fold-constants.ts'
import { type SampleOf, sampler } from './constants/sample-values.ts'
import { reachableBlocks } from './reachable-blocks.ts'

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

/** Keys that no field has, in samples: they mark an object as a document, or as an object with unknown fields. */
const DOCUMENT_OF = '(document of)'
const ANYTHING = '(anything)'
const EXPANDED = '(expanded)'

/**
 * The replies that a trigger's reply blocks send. To find their types, the blocks before a reply are evaluated with marked
 * samples: a document of a storage keeps its mark when it is put into an object or a list.
 */
export function deriveReplies(trigger: Node, facts: Facts): readonly EndpointReply[] {
  const storageOf = storageReader(facts)
  const reached = reachableBlocks(trigger, facts)
  const runs = new Set([trigger, ...reached])
  // A reply that several triggers share may name blocks that only run behind another one: those give nothing.
  const sampleOf: SampleOf = (type, { node }) =>
    node.definition.kind === 'value' || runs.has(node)
      ? sampleFor(type, () => storageOf(node), expandIn(node))
      : undefined
  const sample = sampler(facts, sampleOf)
  return reached.flatMap((node): EndpointReply[] => {
    if (!isReply(node)) return []
    const kind = String(node.settings.kind ?? 'json')
    const type = TYPES[kind]
    const usual = kind === 'redirect' ? 303 : 200
    const [code, value] = ['code', 'value'].map((id) => {
      const pin = node.in.get(id)
      return pin && sample(node, id, pin)
    })
    // Forty objects that hold each other twice have 2 to the 40 fields: too many for a person to read.
    const isReadable = !isLargerThan(value, MOST_VALUES, MOST_CHARACTERS)
    const known = node.wires.has('code') ? code : (code ?? usual)
    const status = typeof known === 'number' && known >= 200 ? known : undefined
    if (kind === 'redirect') return [{ code: status, value: { kind: 'unknown' }, type: '' }]
    if (type !== undefined) return [{ code: status, value: { kind: 'scalar', type: 'string' }, type }]
    return [{ code: status, value: isReadable ? shapeOf(value) : { kind: 'unknown' } }]
  })
}

/** The storage that a block works on, if it is known before a run. */
function storageReader(facts: Facts): (node: Node) => string | undefined {
  const sample = sampler(facts)
  return (node) => {
    for (const [id, pin] of node.in) {
      if (pin.type !== 'storage') continue
      const name = sample(node, id, pin)
      return typeof name === 'string' ? name : undefined
    }
    return undefined
  }
}

/** The texts that the pin `expand` of a block holds, or its expression: the references among them may be followed. */
function expandIn(node: Node): readonly string[] {
  const literal = node.literals.get('expand')
  if (Array.isArray(literal)) return literal.map(String)
  return (node.wires.get('expand') ?? []).flatMap(({ node: { expression } }) =>
    expression ? textsIn(expression.parsed.root) : [],
  )
}

function textsIn(part: Argument | Entry | Spread): readonly string[] {
  if (part.kind === 'literal') return typeof part.value === 'string' ? [part.value] : []
  return partsOf(part).flatMap(textsIn)
}

function sampleFor(type: PinType, storage: () => string | undefined, expand: readonly string[]): unknown {
  const document = () => {
    const name = storage()
    if (name === undefined) return { [ANYTHING]: true }
    return { [DOCUMENT_OF]: name, ...(expand.length > 0 && { [EXPANDED]: expand }) }
  }
  switch (type) {
    case 'document':
      return document()
    case 'documents':
      return [document()]
    case 'value':
      return 'x'
    case 'number':
      return 1
    case 'condition':
      return true
    case 'date':
      return new Date(0)
    case 'array':
      return []
    default:
      return { [ANYTHING]: true }
  }
}

function shapeOf(value: unknown): ValueShape {
  if (value === null) return { kind: 'scalar', type: 'null' }
  if (value instanceof Date) return { kind: 'scalar', type: 'string' }
  if (Array.isArray(value)) {
    const shapes = value.map(shapeOf)
    const [first = { kind: 'unknown' } as const] = shapes
    const alike = shapes.every((shape) => JSON.stringify(shape) === JSON.stringify(first))
    return { kind: 'list', items: alike ? first : { kind: 'unknown' } }
  }
  if (!isJsonObject(value)) {
    const type = typeof value
    return type === 'string' || type === 'number' || type === 'boolean'
      ? { kind: 'scalar', type }
      : { kind: 'unknown' }
  }
  const { [DOCUMENT_OF]: storage, [ANYTHING]: anything, [EXPANDED]: expand, ...known } = value
  if (anything !== undefined && Object.keys(known).length === 0) return { kind: 'unknown' }
  return {
    kind: 'object',
    fields: Object.fromEntries(Object.entries(known).map(([name, field]) => [name, fieldShape(field)])),
    storage: typeof storage === 'string' ? storage : undefined,
    ...(Array.isArray(expand) && { expand: expand.map(String) }),
    open: anything !== undefined || storage !== undefined,
  }
}

/** Nothing in a sample is mostly what only a run knows, such as a parameter in an expression. */
function fieldShape(value: unknown): ValueShape {
  return value === null || value === undefined ? { kind: 'unknown' } : shapeOf(value)
}
