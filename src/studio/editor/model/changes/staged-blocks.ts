/** Block records of the API as an editor needs them: what is saved, what is staged, by whom, and the hash to edit against. */
import type { BlockRecord, Unsaved } from '../../../../shared/api/blueprints/blueprint-actions.ts'
import type { BlockContent } from '../../../../shared/blueprint.ts'
import type { Flow } from '../flow.ts'

export type Staging = Pick<Unsaved, 'change' | 'by' | 'at'>

/** What the editor needs of a block as the API gives it. */
export type StagedRecord = Pick<BlockRecord, keyof BlockContent | 'is_created' | 'unsaved'> & {
  readonly _meta: Pick<BlockRecord['_meta'], 'guid' | 'update_hash'>
}

export interface KnownBlock {
  readonly hash: string
  /** null: it exists only as staged. */
  readonly saved: BlockContent | null
  /** As it would be if everything were saved; null: its removal is staged. */
  readonly staged: BlockContent | null
  /** null: nothing of it is staged. */
  readonly staging: Staging | null
}

export type KnownBlocks = ReadonlyMap<string, KnownBlock>

export function readBlocks(records: readonly StagedRecord[]): KnownBlocks {
  return new Map(records.map((record) => [record._meta.guid, readBlock(record)]))
}

export function readBlock(record: StagedRecord): KnownBlock {
  const saved = contentOf(record)
  const { unsaved } = record
  const staging = unsaved && { change: unsaved.change, by: unsaved.by, at: unsaved.at }
  const hash = record._meta.update_hash
  if (!unsaved) return { hash, saved, staged: saved, staging }
  if (unsaved.change === 'created') return { hash, saved: null, staged: saved, staging }
  if (unsaved.change === 'removed') return { hash, saved, staged: null, staging }
  return { hash, saved, staged: contentOf({ ...saved, ...unsaved }), staging }
}

function contentOf(record: BlockContent): BlockContent {
  const { type, name, title, description, position, in_pins, custom_out_pins, fields, scopes } = record
  const named = name === undefined ? {} : { name }
  return { type, ...named, title, description, position, in_pins, custom_out_pins, fields, scopes }
}

/** The flow that is drawn: with everything that is staged. */
export function stagedFlow(known: KnownBlocks): Flow {
  return flowOf(known, ({ staged }) => staged)
}

export function savedFlow(known: KnownBlocks): Flow {
  return flowOf(known, ({ saved }) => saved)
}

function flowOf(known: KnownBlocks, pick: (block: KnownBlock) => BlockContent | null): Flow {
  const blocks = [...known].flatMap(([guid, block]): [string, BlockContent][] => {
    const content = pick(block)
    return content ? [[guid, content]] : []
  })
  return new Map(blocks)
}

/** Who staged how much, the most first. */
export function stagedBy(known: KnownBlocks): { readonly username: string; readonly blocks: number }[] {
  const counts = new Map<string, number>()
  for (const { staging } of known.values())
    if (staging) counts.set(staging.by.username, (counts.get(staging.by.username) ?? 0) + 1)
  return [...counts]
    .map(([username, blocks]) => ({ username, blocks }))
    .toSorted((a, b) => b.blocks - a.blocks)
}
