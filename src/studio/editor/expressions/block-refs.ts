import { parseExpression } from '../../../expressions/language/parse-expression.ts'
import { blockNames } from '../../../shared/names/block-name.ts'
import type { Flow } from '../model/flow.ts'
import { blockUses } from './parsed-pin.ts'

export type Refs = Readonly<Record<string, string>>

const known = new WeakMap<Flow, ReadonlyMap<string, string>>()

/** The name of each block by its guid. A block that the server has not named yet has the name that it would get. */
export function namesInFlow(flow: Flow): ReadonlyMap<string, string> {
  const before = known.get(flow)
  if (before) return before
  const names = blockNames([...flow].map(([guid, { name, title, type }]) => ({ guid, name, title, type })))
  known.set(flow, names)
  return names
}

/**
 * Name → guid of the blocks that an expression names. A name that no block has now keeps the guid that it had: the block may
 * come back. A text that is no expression yet keeps what it had.
 */
export function refsIn(text: string, flow: Flow, before: Refs = {}): Refs {
  const { expression } = parseExpression(text)
  if (!expression) return before
  const guids = new Map([...namesInFlow(flow)].map(([guid, name]) => [name, guid]))
  const refs: Record<string, string> = {}
  for (const { name } of blockUses(expression)) {
    const guid = guids.get(name) ?? (Object.hasOwn(before, name) ? before[name] : undefined)
    if (guid !== undefined) refs[name] = guid
  }
  return refs
}
