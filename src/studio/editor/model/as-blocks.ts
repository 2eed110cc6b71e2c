/** A resource of the drawing as the flows that it stands for: what the server compiles in its place, with guids and names of their own. */

import type { Block, BlockContent } from '../../../shared/blueprint.ts'
import { isBlockName } from '../../../shared/names/block-name.ts'
import { expandResource } from '../../../shared/resource/expand-resource.ts'
import { canExpand, RESOURCE_TYPE, resourceSettingsOf } from '../../../shared/resource/resource.ts'
import type { Flow } from './flow.ts'

const LONGEST_BASE = 40

function isWholeResource(content: BlockContent | undefined): boolean {
  return content !== undefined && content.type === RESOURCE_TYPE && canExpand(content)
}

/** The flow without the resource, and the guids of the blocks in its place. */
export function asBlocks(
  flow: Flow,
  guid: string,
  newGuid: () => string,
): { readonly flow: Flow; readonly guids: readonly string[] } | undefined {
  const content = flow.get(guid)
  if (!content || !isWholeResource(content)) return undefined
  const blocks = [...flow].map(([one, drawn]): Block => ({ guid: one, ...drawn }))
  const guids = new Map<string, string>()
  const guidOf = (part: string) => {
    const known = guids.get(part) ?? newGuid()
    guids.set(part, known)
    return known
  }
  const nameOf = namer(flow, content.name)
  const expanded = expandResource({ guid, ...content }, resourceSettingsOf(content.fields), blocks, {
    guidOf,
    nameOf,
  })
  const next = new Map(expanded.map(({ guid: one, ...drawn }) => [one, same(flow.get(one), drawn)] as const))
  return { flow: next, guids: [...next.keys()].filter((one) => !flow.has(one)) }
}

/** Blocks that did not change keep their identity, by which changes are told. */
function same(before: BlockContent | undefined, after: BlockContent): BlockContent {
  return before !== undefined && before.in_pins === after.in_pins && before.type === after.type
    ? before
    : after
}

/** `tasks_list`, or `tasks_list_2` where another block has that name. The same name each time for the same part. */
function namer(flow: Flow, base = 'resource'): (part: string) => string {
  const taken = new Set([...flow.values()].flatMap(({ name }) => name ?? []))
  const names = new Map<string, string>()
  return (part) => {
    const known = names.get(part)
    if (known !== undefined) return known
    const start = `${base.slice(0, LONGEST_BASE)}_${part}`
    let name = start
    for (let number = 2; taken.has(name) || !isBlockName(name); number++) name = `${start}_${number}`
    taken.add(name)
    names.set(part, name)
    return name
  }
}
