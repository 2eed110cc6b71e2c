import type { BlockDefinition } from '../../../blocks/block.ts'
import { effectsOf, sendsMail } from '../../../blocks/effects.ts'
import type { InPin } from '../../../blocks/pin.ts'
import { unknownSettings } from '../../../blocks/pins/read-settings.ts'
import type { Block } from '../../../shared/blueprint.ts'
import type { Steps } from '../../../shared/cooperative.ts'
import type { Graph, Node } from '../blueprint-graph.ts'
import { constantPin, type Facts } from '../constants/fold-constants.ts'
import type { Wiring } from '../graph-wiring.ts'
import { bounded, type DeployNote } from './deploy-note.ts'

/**
 * Blocks that no trigger leads to. Of what hangs together only the first is named: the blocks behind it, and the values
 * that only it reads, are used when it is.
 */
export function* unusedBlocks(
  { nodes }: Graph,
  { behind }: Pick<Wiring, 'behind'>,
  used: ReadonlySet<Node>,
): Steps<DeployNote[]> {
  const unused = nodes.filter((node) => !used.has(node))
  const follows = new Set<Node>()
  for (const node of unused) {
    yield
    for (const next of followersOf(node, behind)) if (next !== node) follows.add(next)
  }
  const reported = new Set<Node>()
  const notes: DeployNote[] = []
  // Those in a circle all follow one another: the first of them is named.
  for (const node of [...unused.filter((one) => !follows.has(one)), ...unused]) {
    yield
    if (reported.has(node)) continue
    notes.push({ block: node.block.guid, message: messageOf(node), level: 'warn' })
    yield* addWithFollowers(node, behind, reported)
  }
  return notes
}

function* addWithFollowers(first: Node, behind: Wiring['behind'], reported: Set<Node>): Steps<void> {
  const queue = [first]
  for (let node = queue.pop(); node; node = queue.pop()) {
    if (reported.has(node)) continue
    yield
    reported.add(node)
    queue.push(...followersOf(node, behind))
  }
}

function followersOf(node: Node, behind: Wiring['behind']): readonly Node[] {
  const next = [...node.out].flatMap(([pin, out]) => (out.type === 'flow' ? behind(node, pin) : []))
  return [...next, ...valuesOf(node)]
}

function messageOf({ definition }: Node): string {
  return definition.kind === 'value'
    ? 'No block that runs uses what this block gives. Wire it, name it in an expression, or remove it.'
    : 'No trigger leads to this block, so it never runs. Wire its flow, or remove it.'
}

/** All that the triggers of a blueprint lead to, themselves too: flow blocks, values, and the value blocks of expressions. */
export function* usedBlocks({ nodes }: Graph, { behind }: Pick<Wiring, 'behind'>): Steps<ReadonlySet<Node>> {
  const used = new Set<Node>(nodes.filter(({ definition }) => definition.kind === 'trigger'))
  // A set that grows while it is gone through is a queue without an end of its own.
  for (const node of used) {
    yield
    for (const [pin, out] of node.out)
      if (out.type === 'flow') for (const next of behind(node, pin)) used.add(next)
    for (const source of valuesOf(node)) used.add(source)
  }
  return used
}

/** The value blocks that a block reads, those of its expressions too. */
function valuesOf(node: Node): readonly Node[] {
  return [...node.wires].flatMap(([pin, wires]) =>
    node.in.get(pin)?.type === 'flow'
      ? []
      : wires.flatMap((wire) => (wire.node.definition.kind === 'value' ? [wire.node] : [])),
  )
}

/** Blocks whose mails would wait in the queue and fail, where the cluster has no mail server. */
export function unsentMails(nodes: readonly Node[]): readonly DeployNote[] {
  const senders = nodes.filter(({ definition }) => sendsMail(effectsOf(definition)))
  const message =
    'QUOIN_MAIL_URL is not set: mails of this block wait in the queue _mail and fail until every node has it.'
  const notes = senders.map(({ block }): DeployNote => ({ block: block.guid, message, level: 'warn' }))
  return bounded(notes, 'mails that cannot be sent')
}

/** Blocks that fail because one of their addresses is read, where the cluster has no address of its own. */
export function* unsetPublicUrl(nodes: readonly Node[], facts: Facts): Steps<readonly DeployNote[]> {
  const notes: DeployNote[] = []
  for (const node of nodes) {
    yield
    if (node.definition.kind !== 'flow') continue
    const pin = node.definition.publicAddresses?.find(facts.wired(node))
    if (pin === undefined) continue
    const message = `QUOIN_PUBLIC_URL is not set: this block fails, because ${pin} is the address of the site. Set it on every node.`
    notes.push({ block: node.block.guid, pin, message, level: 'warn' })
  }
  return bounded(notes, 'blocks that need the address of the site')
}

/**
 * Settings that a block does not have. Such a setting does nothing, so what its builder meant by it does not happen: it is refused as an
 * unknown pin is, except in what was deployed before it was refused.
 */
export function* unknownSettingNotes(
  blocks: readonly Block[],
  catalogue: ReadonlyMap<string, BlockDefinition>,
): Steps<readonly DeployNote[]> {
  const notes: DeployNote[] = []
  for (const { guid, type, fields } of blocks) {
    const definition = catalogue.get(type)
    const unknown = definition ? unknownSettings(definition, fields) : []
    for (const { setting, message } of unknown)
      notes.push({ block: guid, pin: setting, message, level: 'warn', refused: 'unless deployed before' })
    yield
  }
  return bounded(notes, 'settings that a block does not have')
}

/** A block that calls a custom function whose name is the same in each run. */
export interface FunctionCall {
  readonly node: Node
  readonly pin: string
  readonly name: string
}

/** The same without its block. */
export interface CalledName {
  readonly block: string
  readonly pin: string
  /** Of the pin's expression. */
  readonly column?: number
  readonly name: string
}

export function calledNames(calls: readonly FunctionCall[]): readonly CalledName[] {
  return calls.map(({ node: { block }, pin, name }) => {
    const isExpression = block.in_pins.some(({ id, expression }) => id === pin && expression !== undefined)
    return { block: block.guid, pin, ...(isExpression && { column: 1 }), name }
  })
}

/** The calls among these blocks. A name that only a run knows is none of them. */
export function* functionCalls({ nodes }: Graph, facts: Facts): Steps<readonly FunctionCall[]> {
  const calls: FunctionCall[] = []
  for (const node of nodes) {
    yield
    for (const [id, pin] of node.in) {
      if (pin.type !== 'function') continue
      const name = fixedName(node, id, pin, facts)
      if (typeof name === 'string') calls.push({ node, pin: id, name: name.trim() })
    }
  }
  return calls
}

function fixedName(node: Node, id: string, pin: InPin, facts: Facts): unknown {
  const wires = node.wires.get(id) ?? []
  const written = wires[0]?.node.expression?.parsed.root
  if (written?.kind === 'literal') return written.value
  return wires.every((wire) => facts.constants.has(wire.node)) ? constantPin(node, id, pin, facts) : undefined
}
