import type { BlockContent } from '../../../shared/blueprint.ts'
import { removeBlocks, setLiteral } from '../model/changes/flow-changes.ts'
import { type Flow, inPinOf, wiresOf } from '../model/flow.ts'

/** Name of the storage that a storage block gives; undefined for other blocks. */
export function storageOf(flow: Flow, guid: string): string | undefined {
  const content = flow.get(guid)
  const name = content?.type === 'storage' ? content.fields.storage : undefined
  return typeof name === 'string' && name !== '' ? name : undefined
}

/** The storage named in each block that it was wired to, and its own block gone. */
export function inlineStorage(flow: Flow, guid: string): Flow {
  const name = storageOf(flow, guid)
  if (name === undefined) return flow
  const users = wiresOf(flow).filter(({ from }) => from.block === guid)
  const named = users.reduce((now, { to }) => setLiteral(now, to.block, to.pin, name), flow)
  return removeBlocks(named, new Set([guid]))
}

/** Name of the storage that a block is about, by its pin `storage`: written there, or wired to it; empty if neither. */
export function storageOfBlock(flow: Flow, content: BlockContent): string {
  const pin = inPinOf(content, 'storage')
  const [from] = pin?.from ?? []
  if (from) return storageOf(flow, from.block) ?? ''
  return typeof pin?.value === 'string' ? pin.value : ''
}
