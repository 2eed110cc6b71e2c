/** A workflow of n8n as a blueprint: the nodes that have a block here, and a list of the others. */
import { isJsonObject, type JsonObject, type JsonValue } from '../../../shared/json.ts'
import { numberIn, objectsIn, textIn } from '../../../storage/document-fields.ts'
import { distinctNames, shownName } from '../fitting-names.ts'
import { type MadeNode, madeNode, type WorkflowNode } from './n8n-nodes.ts'
import type { NodeValues } from './n8n-values.ts'
import type { MadeBlueprint } from './openapi-blueprint.ts'

const MOST_NODES = 500
const MOST_CHARACTERS = 100

interface Wire {
  readonly from: string
  /** Number of the output. */
  readonly output: number
}

export function n8nBlueprint(document: JsonValue): MadeBlueprint {
  const nodes = isJsonObject(document) ? objectsIn(document.nodes) : []
  if (!isJsonObject(document) || nodes.length === 0 || !isJsonObject(document.connections))
    throw new Error('is no workflow of n8n')
  if (nodes.length > MOST_NODES) throw new Error(`has more than ${MOST_NODES} nodes`)
  const unsaid: string[] = []
  const distinct = distinctNames()
  const known = new Map<string, WorkflowNode>()
  for (const node of nodes) {
    const title = textIn(node.name)
    const block = distinct(blockName(title))
    const type = textIn(node.type).replace(/^.*\./, '')
    const parameters = isJsonObject(node.parameters) ? node.parameters : {}
    known.set(title, {
      title,
      block,
      type,
      parameters,
      isDisabled: node.disabled === true,
      hasSecrets: isJsonObject(node.credentials),
      position: placeOf(node.position),
    })
  }
  const wires = wiresIn(document.connections, known)
  const made = madeNodes(known, wires, (line) => void unsaid.push(line))
  const blocks: Record<string, JsonValue> = {}
  const layout: Record<string, JsonValue> = {}
  for (const [title, node] of known) {
    const one = made.get(title)
    if (!one?.content) continue
    const flow = flowsInto(title, wires, made)
    const { in: pins, ...content } = one.content
    blocks[node.block] = {
      ...content,
      in: {
        ...(isJsonObject(pins) ? pins : {}),
        ...(flow.length > 0 && { flow: flow.length === 1 ? (flow[0] ?? '') : [...flow] }),
      },
    }
    layout[node.block] = node.position
    for (const [name, extra] of Object.entries(one.more ?? {})) {
      blocks[name] = extra
      layout[name] = [numberIn(node.position[0]) + 40, numberIn(node.position[1]) + 160]
    }
  }
  if (Object.keys(blocks).length === 0) throw new Error('has no nodes that have a block here')
  return {
    json: {
      name: textIn(document.name).replace(/\s+/g, ' ').trim().slice(0, 80) || 'Imported workflow',
      description: 'Imported from n8n.',
      blocks,
      layout,
    },
    made: [...known.values()]
      .filter(({ title }) => made.get(title)?.isTrigger)
      .map(({ title, type }) => `${shownName(title)} (${shownName(type)})`),
    unsaid,
  }
}

function blockName(title: string): string {
  const name = title
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '_')
    .replace(/^[^a-z]+/, '')
    .replace(/_$/, '')
  return name.slice(0, 50) || 'node'
}

function placeOf(position: JsonValue | undefined): readonly [number, number] {
  const [x, y] = Array.isArray(position) ? position : []
  const within = (value: JsonValue | undefined) =>
    Math.round(Math.max(-50_000, Math.min(50_000, numberIn(value))))
  return [within(x), within(y)]
}

/** Node → what leads into it. */
function wiresIn(
  connections: JsonObject,
  known: ReadonlyMap<string, WorkflowNode>,
): ReadonlyMap<string, readonly Wire[]> {
  const wires = new Map<string, Wire[]>()
  for (const [from, outputs] of Object.entries(connections)) {
    const main = isJsonObject(outputs) && Array.isArray(outputs.main) ? outputs.main : []
    for (const [output, ends] of main.entries())
      for (const { node } of objectsIn(ends ?? [])) {
        const title = textIn(node)
        if (!known.has(title) || !known.has(from)) continue
        wires.set(title, [...(wires.get(title) ?? []), { from, output }].slice(0, MOST_CHARACTERS))
      }
  }
  return wires
}

type Wires = ReadonlyMap<string, readonly Wire[]>

/** Each node is made when those before it are: its values may name theirs. A circle ends. */
function madeNodes(
  known: ReadonlyMap<string, WorkflowNode>,
  wires: Wires,
  left: (line: string) => void,
): ReadonlyMap<string, MadeNode> {
  const made = new Map<string, MadeNode>()
  const open = new Set<string>()
  const isEnd = (title: string) =>
    ![...wires.values()].some((into) => into.some(({ from }) => from === title))
  const valuesFor = (title: string): NodeValues | undefined => make(title)?.values
  const make = (title: string): MadeNode | undefined => {
    const node = known.get(title)
    if (!node || open.has(title)) return made.get(title)
    const found = made.get(title)
    if (found) return found
    open.add(title)
    const [first, ...others] = wires.get(title) ?? []
    const incoming = first && valuesFor(first.from)
    if (others.length > 0)
      left(
        `${shownName(title)}: several nodes lead to it; its values are read as those of ${shownName(first?.from ?? '')}.`,
      )
    const result = madeNode(node, {
      incoming,
      of: valuesFor,
      isEnd: isEnd(title),
      left: (line) => left(`${shownName(title)} ${line}.`),
    })
    open.delete(title)
    made.set(title, result)
    return result
  }
  for (const title of known.keys()) make(title)
  return made
}

/** Of nodes without a block the flow comes from what leads to them. */
function flowsInto(
  title: string,
  wires: Wires,
  made: ReadonlyMap<string, MadeNode>,
  seen = new Set<string>(),
): readonly string[] {
  if (seen.has(title)) return []
  seen.add(title)
  return (wires.get(title) ?? []).flatMap(({ from, output }) => {
    const source = made.get(from)
    if (!source?.content) return flowsInto(from, wires, made, seen)
    const end = source.flows[output]
    return end === undefined ? [] : [end]
  })
}
