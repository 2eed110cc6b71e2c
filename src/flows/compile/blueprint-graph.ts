import type { BlockDefinition } from '../../blocks/block.ts'
import { builderStorage } from '../../blocks/names.ts'
import type { InPin, OutPin } from '../../blocks/pin.ts'
import { converterFor } from '../../blocks/pins/convert-pin.ts'
import { literalItems } from '../../blocks/pins/query-pins.ts'
import { readSettings, unknownName } from '../../blocks/pins/read-settings.ts'
import type { Settings, SettingValues } from '../../blocks/setting.ts'
import type { ParsedExpression } from '../../expressions/language/expression.ts'
import { didYouMean } from '../../expressions/language/new-text.ts'
import type { Block } from '../../shared/blueprint.ts'
import { atOnce, type Steps } from '../../shared/cooperative.ts'
import type { Problem } from '../../shared/errors.ts'
import type { JsonValue } from '../../shared/json.ts'
import { nearestName } from '../../shared/names/nearest-name.ts'
import { canConvert, isNamedType } from '../../shared/pin-type.ts'
import type { RunName } from './expressions/run-names.ts'

/** A block with everything about its pins resolved. */
export interface Node {
  readonly block: Block
  readonly definition: BlockDefinition
  readonly settings: SettingValues<Settings>
  /** In-pins: the declared ones, then those that the settings added. */
  readonly in: ReadonlyMap<string, InPin>
  /** Which in-pins the settings added. */
  readonly added: ReadonlySet<string>
  readonly out: ReadonlyMap<string, OutPin>
  /** Wires that arrive, by in-pin; those of expressions are added by `connectExpressions`. */
  readonly wires: Map<string, readonly Wire[]>
  readonly literals: ReadonlyMap<string, JsonValue>
  /** Whether the settings fit. Otherwise the pins that they would add are unknown, and nothing is said about such pins. */
  readonly sound: boolean
  /** Of the value block that stands for an expression. */
  readonly expression?: PinExpression
}

/** An expression on an in-pin. The graph has a value block of its own for it, and a wire from there to the pin. */
export interface PinExpression {
  readonly owner: Node
  readonly pin: string
  readonly parsed: ParsedExpression
  /** Whether it is a condition on a document, which gives a query. */
  readonly where: boolean
  /** What its names give, by `readKey`. */
  readonly wires: ReadonlyMap<string, Wire>
  readonly runNames: ReadonlySet<RunName>
  /** The triggers whose flows evaluate it. */
  readonly reachedBy: Set<Node>
}

export interface Wire {
  readonly node: Node
  readonly pin: string
}

/**
 * `type`, `pin`, `wire` and `value` can never work and are refused when the block is saved; `setting`, `lost` (a wire from
 * a block that is not there), `missing` and `expression` are only unfinished, and are refused when the blueprint is activated.
 */
export interface GraphProblem extends Problem {
  readonly rule: 'type' | 'pin' | 'wire' | 'value' | 'setting' | 'lost' | 'missing' | 'expression'
}

export interface Graph {
  readonly nodes: readonly Node[]
  /** The value blocks that stand for expressions: none before `connectExpressions`. */
  readonly expressions: readonly Node[]
  readonly problems: readonly GraphProblem[]
}

interface Draft extends Node {
  readonly literals: Map<string, JsonValue>
}

/** Resolves blocks, pins and wires, and lists everything that does not fit. Nodes with problems are in the graph too. */
export function buildGraph(blocks: readonly Block[], catalogue: ReadonlyMap<string, BlockDefinition>): Graph {
  return atOnce(graphSteps(blocks, catalogue))
}

/** The same, one block a step. */
export function* graphSteps(
  blocks: readonly Block[],
  catalogue: ReadonlyMap<string, BlockDefinition>,
): Steps<Graph> {
  const problems: GraphProblem[] = []
  const drafts = new Map<string, Draft>()
  for (const block of blocks) {
    const draft = draftOf(block, catalogue, problems)
    if (draft) drafts.set(block.guid, draft)
    yield
  }
  const unknown = new Set(blocks.filter((block) => !drafts.has(block.guid)).map((block) => block.guid))
  for (const draft of drafts.values()) {
    connect(draft, drafts, unknown, problems)
    findMissing(draft, problems)
    yield
  }
  return { nodes: [...drafts.values()], expressions: [], problems }
}

function draftOf(
  block: Block,
  catalogue: ReadonlyMap<string, BlockDefinition>,
  problems: GraphProblem[],
): Draft | undefined {
  const definition = catalogue.get(block.type)
  if (!definition) {
    problems.push({
      block: block.guid,
      rule: 'type',
      message: `There is no block of the type ${JSON.stringify(block.type)}.${didYouMean(nearestName(block.type, [...catalogue.keys()]))}`,
    })
    return undefined
  }
  const read = readSettings(definition.settings, block.fields)
  for (const { setting, message } of read.problems) {
    problems.push({
      block: block.guid,
      pin: setting,
      rule: 'setting',
      message: `The setting ${setting} ${message}.`,
    })
  }
  // Added pins are worked out from the settings, so settings that do not fit would only give follow-up problems.
  const sound = read.problems.length === 0
  const moreIn = sound ? (definition.moreIn?.(read.values) ?? {}) : {}
  const moreOut = sound ? (definition.moreOut?.(read.values, block.custom_out_pins) ?? {}) : {}
  const taken = [
    ...Object.keys(moreIn).filter((id) => Object.hasOwn(definition.in, id)),
    ...Object.keys(moreOut).filter((id) => Object.hasOwn(definition.out, id)),
  ]
  for (const pin of new Set(taken)) {
    const message = `The block has a pin ${pin} already: choose another name than ${pin}.`
    problems.push({ block: block.guid, pin, rule: 'setting', message })
  }
  return {
    block,
    definition,
    settings: read.values,
    in: new Map([...Object.entries(moreIn), ...Object.entries(definition.in)]),
    added: new Set(Object.keys(moreIn).filter((id) => !Object.hasOwn(definition.in, id))),
    out: new Map([...Object.entries(moreOut), ...Object.entries(definition.out)]),
    wires: new Map(),
    literals: new Map(),
    sound,
  }
}

function connect(
  draft: Draft,
  drafts: ReadonlyMap<string, Draft>,
  unknown: ReadonlySet<string>,
  problems: GraphProblem[],
): void {
  const refuse = (rule: GraphProblem['rule'], pin: string, message: string) =>
    problems.push({ block: draft.block.guid, pin, rule, message })
  for (const saved of draft.block.in_pins) {
    const pin = draft.in.get(saved.id)
    const from = saved.from ?? []
    if (!pin) {
      if (!draft.sound) continue
      if (from.length > 0 || saved.value !== undefined || saved.expression !== undefined)
        refuse('pin', saved.id, unknownName('in-pin', saved.id, draft.definition, draft.added))
      continue
    }
    const held = [
      from.length > 0 && 'a wire',
      saved.value !== undefined && 'a value',
      saved.expression && 'an expression',
    ]
    const [one, other] = held.filter((kind) => typeof kind === 'string')
    if (other) refuse('wire', saved.id, `The pin has ${one} and ${other}: keep one of the two.`)
    if (from.length > 1 && pin.type !== 'flow' && !pin.several) {
      refuse('wire', saved.id, `The pin takes one wire and has ${from.length}.`)
    }
    if (
      pin.language === 'where' &&
      (from.length > 0 || (saved.value !== undefined && saved.value !== null))
    ) {
      refuse(from.length > 0 ? 'wire' : 'value', saved.id, `The pin ${saved.id} takes an expression only.`)
      continue
    }
    const wires: Wire[] = []
    for (const end of from) {
      const source = drafts.get(end.block)
      if (!source) {
        if (!unknown.has(end.block))
          refuse('lost', saved.id, `The wire comes from ${end.block}, which is not in the blueprint.`)
        continue
      }
      const out = source.out.get(end.pin)
      const problem = out
        ? wireProblem(out, pin)
        : `The wire comes from ${end.pin}, which ${source.block.type} does not have.${didYouMean(nearestName(end.pin, [...source.out.keys()]))}`
      if (!out && !source.sound) continue
      if (problem) refuse('wire', saved.id, problem)
      else wires.push({ node: source, pin: end.pin })
    }
    if (wires.length > 0) draft.wires.set(saved.id, wires)
    else if (saved.value !== undefined && saved.value !== null) {
      const problem = literalProblem(saved.id, pin, saved.value)
      if (problem) refuse('value', saved.id, problem)
      else draft.literals.set(saved.id, saved.value)
    }
  }
}

/** Why a wire cannot run between the two pins, or undefined. */
function wireProblem(out: OutPin, into: InPin): string | undefined {
  if (isNamedType(into.type))
    return `The pin takes the name of a ${into.type === 'secret' ? 'secret' : 'connection'}: no wire and no expression.`
  const gives = out.type === 'flow' && out.carries && into.type !== 'flow' ? out.carries : out.type
  return canConvert(gives, into.type)
    ? undefined
    : `A ${into.type} pin cannot take what a ${gives} pin gives.`
}

/** Why a pin cannot hold the literal, or undefined. */
function literalProblem(id: string, pin: InPin, value: JsonValue): string | undefined {
  const isStorage = pin.type === 'storage'
  if (!canConvert('any', pin.type) && !isStorage && pin.type !== 'sort' && !isNamedType(pin.type))
    return `A ${pin.type} pin cannot hold a value: wire it to a block that gives one.`
  try {
    const convert = converterFor(id, pin, 'any')
    if (pin.several) for (const item of literalItems(pin, value)) convert(item)
    else convert(value)
    if (isStorage && typeof value === 'string') builderStorage(value)
    return undefined
  } catch (error) {
    return `${id} ${error instanceof Error ? error.message : 'does not fit'}.`
  }
}

/** What a builder can do about a pin that holds nothing. */
function wayToGive({ type }: InPin): string {
  if (type === 'secret') return 'choose a secret, or make one'
  if (type === 'http_connection') return 'choose a connection, or make one'
  if (type === 'flow') return 'wire it from the block before'
  if (!canConvert('any', type) && type !== 'storage' && type !== 'sort') return 'wire it'
  return 'give it a value or wire it'
}

function findMissing(draft: Draft, problems: GraphProblem[]): void {
  const saved = new Map(draft.block.in_pins.map((pin) => [pin.id, pin]))
  // A pin that is wired to something wrong has its problem already.
  const holds = (id: string) => {
    const { from = [], value, expression } = saved.get(id) ?? {}
    return from.length > 0 || (value !== undefined && value !== null) || expression !== undefined
  }
  const miss = (pin: string, message: string) =>
    problems.push({ block: draft.block.guid, pin, rule: 'missing', message })
  for (const [id, pin] of draft.in) {
    if (holds(id)) continue
    if (pin.required && pin.default === undefined) miss(id, `${id} is needed: ${wayToGive(pin)}.`)
    const others = pin.orPin === undefined ? [] : [pin.orPin].flat()
    const [first] = others
    if (first !== undefined && !others.some(holds))
      miss(first, `${[...others, id].join(' or ')} is needed: give one of them a value.`)
  }
}
