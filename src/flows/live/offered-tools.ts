import type { CompiledEndpoint, CompiledFunction } from '../compile/frame.ts'
import type { LiveTable } from './live-blueprints.ts'

/** A function or an endpoint of an active blueprint that agents get as a tool. */
export type OfferedTool = {
  readonly name: string
  readonly blueprint: string
  /** Any of them is enough. */
  readonly scopes: readonly string[]
} & ({ readonly endpoint: CompiledEndpoint } | { readonly function: CompiledFunction })

const known = new WeakMap<LiveTable, ReadonlyMap<string, OfferedTool>>()

/** By name, in the order of names. A table never changes, so its tools are looked for once. */
export function offeredTools(table: LiveTable): ReadonlyMap<string, OfferedTool> {
  const found = known.get(table)
  if (found) return found
  const all = [...table.blueprints.values()].flatMap(({ compiled }) => {
    const { guid: blueprint, endpoints, functions } = compiled
    const offered: OfferedTool[] = []
    for (const endpoint of endpoints) {
      const { tool: name } = endpoint.listening
      // A stream of events has no end that a tool could wait for.
      if (name !== undefined && !endpoint.subscribes)
        offered.push({ name, blueprint, scopes: endpoint.scopes, endpoint })
    }
    for (const one of functions.values())
      if (one.tool !== undefined)
        offered.push({ name: one.tool, blueprint, scopes: one.scopes, function: one })
    return offered
  })
  const byName = all.toSorted((a, b) => (a.name < b.name ? -1 : 1))
  const tools = new Map(byName.map((tool) => [tool.name, tool]))
  known.set(table, tools)
  return tools
}
