/**
 * Refuses what can never work and works out what the server adds (`out_pins`, `storages`). What is only unfinished, such
 * as a missing wire, is fine until the blueprint is activated: blocks are created one by one.
 */
import type { BlockDefinition } from '../../blocks/block.ts'
import { unknownSettings } from '../../blocks/pins/read-settings.ts'
import type { RecordContext } from '../../records/records.ts'
import type { Block } from '../../shared/blueprint.ts'
import { type Pause, runCooperatively } from '../../shared/cooperative.ts'
import { invalidField } from '../../shared/errors.ts'
import { isJsonObject, type JsonObject } from '../../shared/json.ts'
import { type GraphProblem, graphSteps, type Node } from '../compile/blueprint-graph.ts'
import { changeOf, stagedContent } from './staged-content.ts'

export interface DerivedFields {
  readonly out_pins: JsonObject[]
  readonly storages: string[]
}

/** A refused drawing: an unknown type, a pin that the block does not have, a wire or value that cannot be. */
const refusedWhenSaved = new Set(['type', 'pin', 'wire', 'value'])

/**
 * What the server adds to each of the blocks; INVALID_BODY when it is asked for one that can never work. `records`: the stored
 * blocks of the blueprint by guid. Two kinds are read: blocks at which a wire begins, and the former states of `blocks`.
 */
export async function derivedFields(
  context: RecordContext,
  catalogue: ReadonlyMap<string, BlockDefinition>,
  blocks: ReadonlyMap<string, Block>,
  records: ReadonlyMap<string, JsonObject>,
  pause: Pause,
): Promise<(guid: string) => DerivedFields> {
  const drawn = new Map(blocks)
  for (const { in_pins } of blocks.values()) {
    for (const { block: guid } of in_pins.flatMap(({ from = [] }) => from)) {
      const record = drawn.has(guid) ? undefined : records.get(guid)
      if (!record || changeOf(record) === 'removed') continue
      drawn.set(guid, { guid, ...stagedContent(context, record) })
    }
    await pause()
  }
  const graph = await runCooperatively(graphSteps([...drawn.values()], catalogue), pause)
  const nodes = new Map(graph.nodes.map((node) => [node.block.guid, node]))
  const refused = new Map<string, GraphProblem>()
  for (const problem of graph.problems)
    if (refusedWhenSaved.has(problem.rule) && !refused.has(problem.block)) refused.set(problem.block, problem)
  return (guid) => {
    const problem = refused.get(guid)
    if (problem)
      throw invalidField(problem.rule === 'type' ? 'type' : `in_pins.${problem.pin ?? ''}`, problem.message)
    const node = nodes.get(guid)
    if (node) refuseUnknownSettings(node, records.get(guid))
    const set = Object.entries(node?.definition.settings ?? {})
      .filter(([, setting]) => setting.kind === 'storage')
      .map(([name]) => node?.settings[name])
    const held = [...(node?.in ?? [])]
      .filter(([, pin]) => pin.type === 'storage')
      .map(([id]) => node?.literals.get(id))
    return {
      out_pins: [...(node?.out ?? [])].map(([id, pin]) => ({ id, type: pin.type })),
      storages: [...set, ...held].filter((name) => typeof name === 'string'),
    }
  }
}

/** A block that has one since before they were refused can be edited; its check and its deploy tell of it. */
function refuseUnknownSettings({ block, definition }: Node, record: JsonObject | undefined): void {
  const staged = record && isJsonObject(record.unsaved) ? record.unsaved.fields : undefined
  const former = [record?.fields, staged].filter((fields) => isJsonObject(fields))
  const added = Object.entries(block.fields).filter(
    ([setting]) => !former.some((fields) => Object.hasOwn(fields, setting)),
  )
  const [unknown] = unknownSettings(definition, Object.fromEntries(added))
  if (unknown) throw invalidField(`fields.${unknown.setting}`, unknown.message)
}
