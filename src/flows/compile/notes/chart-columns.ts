import { effectsOf, sendsMail } from '../../../blocks/effects.ts'
import { changeLeadsOut } from '../../../blocks/referring-query.ts'
import type { ValueType } from '../../../expressions/language/value-types.ts'
import type { Steps } from '../../../shared/cooperative.ts'
import type { FieldsOf } from '../../../shared/field-rule.ts'
import { isJsonObject, type JsonValue } from '../../../shared/json.ts'
import type { Query, SortKey } from '../../../shared/query.ts'
import { behindProblem, type Reference, referencesIn } from '../../../storage/reference/references.ts'
import { throughReferences } from '../../../storage/reference/through-references.ts'
import { otherStorages } from '../../../storage/search/other-storages.ts'
import type { Graph, Node, Wire } from '../blueprint-graph.ts'
import { constantStorage, type Facts } from '../constants/fold-constants.ts'
import { sampler, unknownValue } from '../constants/sample-values.ts'
import { bounded, type DeployNote } from './deploy-note.ts'

const CHART = 'state_chart'

/** Labels and values of charts that name no column of their items: such a chart has no labels, or no bars. */
export function* chartColumns(
  nodes: readonly Node[],
  types: ReadonlyMap<Node, ValueType>,
): Steps<DeployNote[]> {
  const notes: DeployNote[] = []
  for (const node of nodes) {
    yield
    if (node.block.type !== CHART) continue
    const [wire, ...others] = node.wires.get('items') ?? []
    const columns = wire && others.length === 0 ? columnsOf(wire, types) : undefined
    if (columns === undefined || columns.length === 0) continue
    for (const [pin, field] of namedBy(node)) {
      if (columns.includes(field) || columns.includes(field.split('.')[0] ?? '')) continue
      const message = `${pin} names ${field}, which is no column of the items. They have ${columns.join(', ')}.`
      notes.push({ block: node.block.guid, pin, message, level: 'warn' })
    }
  }
  return notes
}

/** Undefined where only a run knows them. */
function columnsOf({ node, pin }: Wire, types: ReadonlyMap<Node, ValueType>): readonly string[] | undefined {
  const type = types.get(node)
  if (type?.kind === 'list' && type.of.kind === 'object' && type.of.open === false)
    return Object.keys(type.of.fields)
  const { definition, literals, wires } = node
  if (pin !== 'rows' || definition.kind !== 'flow' || !definition.columns) return undefined
  if (wires.has('group') || wires.has('values')) return undefined
  try {
    return definition.columns(Object.fromEntries(literals)).map(({ name }) => name)
  } catch {
    // The block has a problem of its own.
    return undefined
  }
}

/** By pin, what is written in the block; a wire is known in a run only. */
function namedBy({ literals, wires }: Node): readonly (readonly [pin: string, field: string])[] {
  const label = wires.has('label') ? [] : [literals.get('label') ?? 'label']
  const values = wires.has('values') ? [] : (literals.get('values') ?? ['value'])
  return [
    ...label.flatMap((one) => (typeof one === 'string' ? [['label', one] as const] : [])),
    ...(Array.isArray(values) ? values : []).flatMap((one) => {
      const field = fieldOf(one)
      return field === undefined ? [] : [['values', field] as const]
    }),
  ]
}

function fieldOf(written: JsonValue): string | undefined {
  const field = isJsonObject(written) ? written.field : written
  return typeof field === 'string' ? field : undefined
}

/** Blocks of pages that need a browser. A button is one of them unless it is a link. */
const interactive: ReadonlySet<string> = new Set(['state_form', 'state_input_dynamic', 'state_modal'])

/** Blocks whose part of a page leads into a mail, which cannot show it. A warning only: `state_when` may leave the part out. */
export function* unshownInMail(nodes: readonly Node[]): Steps<readonly DeployNote[]> {
  const walk = new Set(nodes.filter(({ definition }) => sendsMail(effectsOf(definition))))
  const notes: DeployNote[] = []
  for (const node of walk) {
    yield
    if (needsBrowser(node)) notes.push(noteOf(node))
    for (const [pin, wires] of node.wires)
      if (node.in.get(pin)?.type === 'state') for (const wire of wires) walk.add(wire.node)
  }
  return bounded(notes, 'blocks that mail cannot show')
}

function needsBrowser({ definition, literals, wires }: Node): boolean {
  if (interactive.has(definition.identifier)) return true
  return (
    definition.identifier === 'state_button' && literals.get('kind') !== 'link' && !wires.get('kind')?.length
  )
}

function noteOf({ block, definition }: Node): DeployNote {
  const message = `"${block.title || definition.title}" leads to the state of a mail, which cannot show it: the run fails when the mail has it. Link to a page instead.`
  return { block: block.guid, message, level: 'warn' }
}

/**
 * Blocks that order, group or add up by a field of another document, and changes of many whose condition asks for one: they fail in
 * each run. Refused by a deploy, and no problem of the
 * compiler: a field becomes a reference, or ends to be one, without a deploy, and active blocks are compiled at each start.
 */
export function* behindReferences(
  graph: Graph,
  facts: Facts,
  fieldsOf: FieldsOf,
): Steps<readonly DeployNote[]> {
  const sample = sampler(facts, unknownValue, unknownValue)
  const notes: DeployNote[] = []
  for (const node of graph.nodes) {
    yield
    const storage = constantStorage(node, facts)
    if (storage === undefined) continue
    const references = referencesIn(fieldsOf(storage)).of(storage)
    if (references.length === 0) continue
    const read = readIn(node, sample).map(
      ([pin, fields]) => [pin, behindProblem(fields, references)] as const,
    )
    for (const [pin, problem] of [...read, ['where', changeProblem(node, sample, references)] as const]) {
      if (!problem) continue
      const message = `With the present fields of documents, this fails: the pin ${pin} ${problem}.`
      notes.push({ block: node.block.guid, pin, message, level: 'warn', refused: true })
    }
  }
  return bounded(notes, 'fields behind references')
}

/** Of a block that changes, or waits for, what its pin `where` finds. */
function changeProblem(
  node: Node,
  sample: ReturnType<typeof sampler>,
  references: readonly Reference[],
): string | undefined {
  const { definition } = node
  const where = node.in.get('where')
  const isChange =
    definition.kind === 'flow' && (definition.effects?.writes !== undefined || definition.awaitsDocuments)
  if (!isChange || where?.type !== 'query') return undefined
  const query = sample(node, 'where', where)
  return isQuery(query) && leadsOut(query, references) ? changeLeadsOut : undefined
}

/** What a run refuses for another reason is left to it. */
function leadsOut(query: Query, references: readonly Reference[]): boolean {
  try {
    return otherStorages(throughReferences(query, references)).length > 0
  } catch {
    return false
  }
}

function isQuery(query: unknown): query is Query {
  return typeof query === 'object' && query !== null && 'kind' in query
}

/** Names of fields by pins, as far as they are known before a run. */
function readIn(
  node: Node,
  sample: ReturnType<typeof sampler>,
): readonly (readonly [string, readonly string[]])[] {
  const pins = [...node.in]
  const sorts = pins
    .filter(([, { type }]) => type === 'sort')
    .map(([id, pin]) => [id, sortedBy(sample(node, id, pin))] as const)
  if (node.definition.searches === undefined) return sorts
  const inputs = pins.filter(([, pin]) => pin.type !== 'flow' && !pin.perFrame)
  const input = Object.fromEntries(inputs.map(([id, pin]) => [id, sample(node, id, pin)]))
  const { read = [] } = node.definition.searches(input)
  return [...sorts, ['group', read] as const]
}

function sortedBy(value: unknown): readonly string[] {
  const keys: readonly unknown[] = Array.isArray(value) ? value : [value]
  return keys.filter(isSortKey).map(({ field }) => field)
}

function isSortKey(key: unknown): key is SortKey {
  return typeof key === 'object' && key !== null && 'field' in key && typeof key.field === 'string'
}
