import { parseExpression } from '../../../expressions/language/parse-expression.ts'
import { type ValueType, wordsFor } from '../../../expressions/language/value-types.ts'
import type { Block } from '../../../shared/blueprint.ts'
import type { Steps } from '../../../shared/cooperative.ts'
import { isJsonObject, type JsonValue } from '../../../shared/json.ts'
import type { PinType } from '../../../shared/pin-type.ts'
import type { Graph, Node } from '../blueprint-graph.ts'
import { constantPin, type Facts } from '../constants/fold-constants.ts'
import { typeOfPin } from '../expressions/document-types.ts'
import type { CompiledEndpoint } from '../frame.ts'
import type { Wiring } from '../graph-wiring.ts'
import type { ReadTrigger } from '../read-triggers.ts'
import { chartColumns } from './chart-columns.ts'
import { bounded, type DeployNote } from './deploy-note.ts'
import { type FunctionCall, unusedBlocks, usedBlocks } from './unused-blocks.ts'
import { cachingNotes, lostRequests, openWrites, staleReads, waitingRequests } from './waiting-requests.ts'

/** Of one pin: more values would take as long as the rest of a deploy. */
const MOST_VALUES = 1_000
/** A key whose text is an expression of its own: of a column, for each of its cells. */
const OWN_EXPRESSION = 'format'

/** Texts in a list or an object of a pin that were probably meant as expressions: an expression is always the whole pin. */
function* nestedExpressions(nodes: readonly Node[]): Steps<DeployNote[]> {
  const notes: DeployNote[] = []
  for (const { block, literals } of nodes) {
    for (const [pin, value] of literals) {
      if (typeof value !== 'object') continue
      yield
      const text = expressionIn(value, { left: MOST_VALUES })
      if (text === undefined) continue
      const shown = JSON.stringify(text.length > 60 ? `${text.slice(0, 60)} …` : text)
      const message = `${pin} contains the text ${shown}, which is not calculated: an expression is the whole pin. Write the pin as one, such as =[{ field: "size", options: env.SIZES }].`
      notes.push({ block: block.guid, pin, message, level: 'warn' })
    }
  }
  return notes
}

function expressionIn(value: JsonValue, budget: { left: number }): string | undefined {
  if (--budget.left < 0) return undefined
  if (typeof value === 'string')
    return /^=\s*[^\s=]/.test(value) && parseExpression(value.slice(1)).expression ? value : undefined
  const inside = Array.isArray(value) ? value : isJsonObject(value) ? partsOf(value) : []
  for (const one of inside) {
    const found = expressionIn(one, budget)
    if (found !== undefined) return found
  }
  return undefined
}

function partsOf(value: Readonly<Record<string, JsonValue>>): readonly JsonValue[] {
  return Object.entries(value).flatMap(([key, one]) => (key === OWN_EXPRESSION ? [] : [one]))
}

interface Known {
  readonly triggers: readonly ReadTrigger[]
  readonly calls: readonly FunctionCall[]
  readonly types: ReadonlyMap<Node, ValueType>
  readonly used: ReadonlySet<Node>
}

const takesText: ReadonlySet<PinType | undefined> = new Set(['value', 'line'] as const)

/**
 * Lists on pins of the type `any` that need a text in the end: parameters of custom functions, and bodies that are text. A pin
 * of the type text refuses a list before.
 */
function* listsAsText({ triggers, calls, types, used }: Known): Steps<DeployNote[]> {
  const notes: DeployNote[] = []
  const look = (node: Node, pin: string, requested: string) => {
    const [wire] = node.wires.get(pin) ?? []
    const type = wire && (types.get(wire.node) ?? typeOfPin(wire))
    if (type?.kind !== 'list') return
    const message = `${requested}, and ${pin} is ${wordsFor(type)}. Choose one of its elements, or join them with ${pin}.join(", ").`
    const column = node.block.in_pins.some(({ id, expression }) => id === pin && expression !== undefined)
    notes.push({ block: node.block.guid, pin, message, level: 'warn', ...(column && { column: 1 }) })
  }
  const parameters = new Map<string, ReadonlyMap<string, PinType>>()
  for (const trigger of triggers) {
    if (trigger.on !== 'function') continue
    const { name, parameters: all } = trigger.listening
    parameters.set(name, new Map(all.map(({ id, type }) => [id, type])))
  }
  for (const { node, name } of calls) {
    yield
    const requested = parameters.get(name)
    for (const pin of requested ? node.added : [])
      if (takesText.has(requested?.get(pin))) look(node, pin, `${name} takes a text as ${pin}`)
  }
  for (const node of used) {
    yield
    for (const pin of node.definition.takesText?.(node.settings) ?? [])
      look(node, pin, 'The block takes a text')
  }
  return notes
}

export interface Compiled {
  readonly endpoints: readonly CompiledEndpoint[]
  readonly triggers: readonly ReadTrigger[]
  readonly calls: readonly FunctionCall[]
  /** What is known of the values of expressions. */
  readonly types: ReadonlyMap<Node, ValueType>
}

/** What is probably a mistake in a blueprint that can run. */
export function* deployNotes(graph: Graph, facts: Facts, compiled: Compiled): Steps<readonly DeployNote[]> {
  const { endpoints, triggers, calls, types } = compiled
  const used = yield* usedBlocks(graph, facts)
  const writes = yield* openWrites(endpoints, triggers, graph.nodes, calls)
  const unused = yield* unusedBlocks(graph, facts, used)
  const events = yield* idleEvents(graph, facts, used)
  const stale = yield* staleReads(graph.nodes, facts)
  const waiting = yield* waitingRequests(graph.nodes, facts)
  const lists = yield* listsAsText({ triggers, calls, types, used })
  const nested = yield* nestedExpressions(graph.nodes)
  const charts = yield* chartColumns(graph.nodes, types)
  return [
    ...bounded(writes, 'endpoints that require no access and write'),
    ...bounded(cachingNotes(endpoints), 'cached replies that may depend on the caller'),
    ...bounded(idleTriggers(graph, facts), 'triggers without a block behind them'),
    ...bounded(unused, 'blocks that no trigger leads to'),
    ...bounded(events, 'forms and buttons without a block behind them'),
    ...bounded(stale, 'reads before a call that a later write relies on'),
    ...bounded(waiting, 'waits that no one could decide, or whose later blocks need the request'),
    ...bounded(missedTimes(graph.nodes, facts), 'schedules that may lose missed times'),
    ...bounded(lostRequests(graph.nodes, facts), 'endpoints whose requests cannot be sent again'),
    ...bounded(lists, 'lists where text is wanted'),
    ...bounded(charts, 'charts of columns that do not exist'),
    ...bounded(nested, 'expressions inside lists and objects'),
    ...bounded(emptyListNotes(graph.nodes.map(({ block }) => block)), 'lists of terms that may be empty'),
  ]
}

/** Lists of terms that come from elsewhere and may be empty, where the file does not say what that means. */
function emptyListNotes(blocks: readonly Block[]): DeployNote[] {
  return blocks.flatMap(({ guid, type, in_pins: pins }) => {
    const isWired = pins.some(({ id, from }) => id === 'terms' && (from ?? []).length > 0)
    if (type !== 'query_bool_must' || !isWired || pins.some(({ id }) => id === 'ignore_empty')) return []
    const message =
      'An empty list of terms finds nothing; in former versions it gave no filter. Set ignore_empty to false to keep this, or to true for no filter.'
    return [{ block: guid, pin: 'ignore_empty', message, level: 'warn' as const }]
  })
}

/**
 * Schedules whose flow looks at the planned time, and that do not say what happens to missed ones: of the times that passed while no
 * node was running only the last is started, so the first working day of a month may never come.
 */
function missedTimes(nodes: readonly Node[], facts: Pick<Facts, 'wired'>): DeployNote[] {
  return nodes.flatMap((node) => {
    const { block, definition, literals, wires } = node
    if (definition.kind !== 'trigger' || definition.on !== 'schedule') return []
    // A time that is worked out is one at a time.
    if (literals.has('next_run') || wires.has('next_run')) return []
    if (literals.has('catch_up') || wires.has('catch_up') || !facts.wired(node)('planned_at')) return []
    const message =
      'The flow reads planned_at, and catch_up is not set: after a downtime only the last missed time is started, so a day that matters may be lost. Set catch_up to all, or to last where that is meant.'
    return [{ block: block.guid, pin: 'catch_up', message, level: 'warn' } as const]
  })
}

/** Forms and buttons of pages whose use by a visitor starts nothing, because no block follows. */
function* idleEvents(graph: Graph, facts: Facts, used: ReadonlySet<Node>): Steps<DeployNote[]> {
  const forms = [...used].filter(({ definition }) => definition.identifier === 'state_form')
  const buttons = [...used].filter(({ definition }) => definition.identifier === 'state_button')
  const notes: DeployNote[] = []
  const handled = yield* showing(graph, new Set(buttons.filter((node) => facts.wired(node)('click'))))
  for (const node of forms) {
    const content = node.wires.get('content') ?? []
    if (facts.wired(node)('submit') || content.some((wire) => handled.has(wire.node))) continue
    const message =
      'Nothing happens when a visitor submits this form. Wire submit to the block that stores or uses its values.'
    notes.push({ block: node.block.guid, pin: 'submit', message, level: 'warn' })
  }
  for (const node of buttons) {
    if (facts.wired(node)('click') || kindOf(node, facts) !== 'action') continue
    const message = 'Nothing happens when a visitor clicks this button. Wire click to the block that follows.'
    notes.push({ block: node.block.guid, pin: 'click', message, level: 'warn' })
  }
  return notes
}

function kindOf(node: Node, facts: Facts): unknown {
  const pin = node.in.get('kind')
  const wires = node.wires.get('kind') ?? []
  if (!pin || !wires.every((wire) => facts.constants.has(wire.node))) return undefined
  return constantPin(node, 'kind', pin, facts)
}

/** The value blocks that show one of these blocks, through others too; themselves included. */
function* showing({ nodes }: Graph, shown: ReadonlySet<Node>): Steps<ReadonlySet<Node>> {
  const found = new Set(shown)
  if (found.size === 0) return found
  const readers = new Map<Node, Node[]>()
  for (const node of nodes) {
    yield
    if (node.definition.kind !== 'value') continue
    for (const [pin, wires] of node.wires) {
      if (node.in.get(pin)?.type !== 'state') continue
      for (const wire of wires) {
        const known = readers.get(wire.node)
        if (known) known.push(node)
        else readers.set(wire.node, [node])
      }
    }
  }
  for (const node of found) {
    yield
    for (const reader of readers.get(node) ?? []) found.add(reader)
  }
  return found
}

/** Triggers with no block behind them: their runs do nothing. */
function idleTriggers({ nodes }: Graph, { behind }: Pick<Wiring, 'behind'>): DeployNote[] {
  return nodes.flatMap((node) => {
    const { definition, block } = node
    if (definition.kind !== 'trigger' || behind(node, 'flow').length > 0) return []
    const message = `${definition.title} leads to no block, so its runs do nothing. Wire flow to the first block, or remove the trigger.`
    return [{ block: block.guid, pin: 'flow', message, level: 'warn' as const }]
  })
}
