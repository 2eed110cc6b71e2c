import { type ValueType, wordsFor } from '../../../expressions/language/value-types.ts'
import type { Steps } from '../../../shared/in-turns.ts'
import type { PinType } from '../../../shared/pin-type.ts'
import type { Node } from '../blueprint-graph.ts'
import { typeOfPin } from '../expressions/pin-value-types.ts'
import type { ReadTrigger } from '../read-triggers.ts'
import type { DeployNote } from './deploy-note.ts'
import type { FunctionCall } from './function-calls.ts'

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
export function* listsAsText({ triggers, calls, types, used }: Known): Steps<DeployNote[]> {
  const notes: DeployNote[] = []
  const look = (node: Node, pin: string, wanted: string) => {
    const [wire] = node.wires.get(pin) ?? []
    const type = wire && (types.get(wire.node) ?? typeOfPin(wire))
    if (type?.kind !== 'list') return
    const message = `${wanted}, and ${pin} is ${wordsFor(type)}. Choose one of its elements, or join them with ${pin}.join(", ").`
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
    const wanted = parameters.get(name)
    for (const pin of wanted ? node.added : [])
      if (takesText.has(wanted?.get(pin))) look(node, pin, `${name} takes a text as ${pin}`)
  }
  for (const node of used) {
    yield
    for (const pin of node.definition.takesText?.(node.settings) ?? [])
      look(node, pin, 'The block takes a text')
  }
  return notes
}
