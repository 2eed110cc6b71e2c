/** The pages and endpoints through which the documents of a storage are read and written. */
import type { BlockRecord } from '../../../../shared/api/blueprints/blueprint-actions.ts'
import { RESOURCE_TYPE, resourceSettingsOf } from '../../../../shared/resource/resource.ts'
import { changeOf, type Scopes } from './application-access.ts'

export type TriggerBlock = Pick<
  BlockRecord,
  'type' | 'in_pins' | 'fields' | 'scopes' | 'title' | 'blueprint_guid'
> & {
  readonly _meta: Pick<BlockRecord['_meta'], 'guid' | 'update_hash'>
}

export interface ApplicationTrigger {
  readonly block: TriggerBlock
  /** What it is: `/contracts/new`, or `/api/v1/contracts`. */
  readonly path: string
  readonly writes: boolean
}

const endpoint = /^on_startup_register_uri_(\w+)$/
/** Blocks of forms and buttons, and those that change documents. */
const writing = /^(state_form|function_(create|update|upsert|remove|delete|restore)_\w+)$/

function textOf(block: TriggerBlock, pin: string): string {
  const value = block.in_pins.find(({ id }) => id === pin)?.value
  return typeof value === 'string' ? value.replace(/^\/+/, '') : ''
}

/** Whether a block of the blueprint names the storage. */
function usesStorage(blocks: readonly TriggerBlock[], storage: string): boolean {
  return blocks.some((block) => block.in_pins.some(({ id, value }) => id === 'storage' && value === storage))
}

/** Of one blueprint. */
export function triggersOf(blocks: readonly TriggerBlock[], storage: string): readonly ApplicationTrigger[] {
  return blocks.flatMap((block): readonly ApplicationTrigger[] => {
    const { type } = block
    if (type === RESOURCE_TYPE)
      return textOf(block, 'storage') === storage
        ? [{ block, path: `/api/v1/${textOf(block, 'uri')}`, writes: false }]
        : []
    const method = endpoint.exec(type)?.[1]
    if (type !== 'state_page' && method === undefined) return []
    const reached = reachedFrom(block, blocks)
    if (!usesStorage(reached, storage)) return []
    const path =
      type === 'state_page'
        ? `/${textOf(block, 'url')}`
        : `${method?.toUpperCase()} /api/v1/${textOf(block, 'uri')}`
    return [
      { block, path, writes: (method ?? 'get') !== 'get' || reached.some((one) => writing.test(one.type)) },
    ]
  })
}

const isFlow = (pin: string) => pin.startsWith('flow')

/** Blocks that run behind the trigger, and those whose values they take. */
function reachedFrom(trigger: TriggerBlock, blocks: readonly TriggerBlock[]): readonly TriggerBlock[] {
  const byGuid = new Map(blocks.map((block) => [block._meta.guid, block]))
  const behind = new Map<string, TriggerBlock[]>()
  for (const block of blocks)
    for (const { id, from = [] } of block.in_pins)
      for (const end of from) if (isFlow(id)) behind.set(end.block, [...(behind.get(end.block) ?? []), block])
  const found = new Set<TriggerBlock>()
  const left = [trigger]
  for (let block = left.pop(); block !== undefined; block = left.pop()) {
    if (found.has(block)) continue
    found.add(block)
    left.push(...(behind.get(block._meta.guid) ?? []))
    // What comes before a block by its flow belongs to other triggers, too.
    for (const { id, from = [], refs = {} } of block.in_pins) {
      if (isFlow(id)) continue
      for (const guid of [...from.map((end) => end.block), ...Object.values(refs)]) {
        const source = byGuid.get(guid)
        if (source && source.type !== 'state_page') left.push(source)
      }
    }
  }
  return [...found]
}

/** What a trigger asks for: those who read, and those who write. */
export function askedOf({ block, writes }: ApplicationTrigger): Partial<Scopes> {
  if (block.type !== RESOURCE_TYPE) return writes ? { write: block.scopes } : { read: block.scopes }
  const { write_scopes } = resourceSettingsOf(block.fields)
  return { read: block.scopes, write: write_scopes.length > 0 ? write_scopes : block.scopes }
}

export interface TriggerChange {
  readonly trigger: ApplicationTrigger
  readonly content: Pick<TriggerBlock, 'scopes' | 'fields'>
  readonly change: 'narrower' | 'wider' | 'other'
}

/** The triggers that ask for other scopes then. */
export function changesFor(
  triggers: readonly ApplicationTrigger[],
  scopes: Scopes,
): readonly TriggerChange[] {
  return triggers.flatMap((trigger) => {
    const asked = askedOf(trigger)
    const changes = (['read', 'write'] as const).flatMap((kind) =>
      asked[kind] === undefined ? [] : [changeOf(asked[kind], scopes[kind])],
    )
    const real = changes.filter((one) => one !== 'same')
    const [change] = real
    if (change === undefined) return []
    return [
      {
        trigger,
        content: contentWith(trigger, scopes),
        change: real.includes('wider') ? ('wider' as const) : change,
      },
    ]
  })
}

function contentWith(
  { block, writes }: ApplicationTrigger,
  { read, write }: Scopes,
): TriggerChange['content'] {
  if (block.type !== RESOURCE_TYPE) return { scopes: [...(writes ? write : read)], fields: block.fields }
  const { write_scopes: _, ...fields } = block.fields
  // Without them those who list and read also write.
  const isSame = [...read].toSorted().join() === [...write].toSorted().join()
  return { scopes: [...read], fields: isSame ? fields : { ...fields, write_scopes: [...write] } }
}
