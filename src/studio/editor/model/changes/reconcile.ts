/** How what the server has comes together with what is drawn. */
import type { BlockContent } from '../../../../shared/blueprint.ts'
import { sameJson } from '../../../../shared/json.ts'
import { withPresentNames } from '../../expressions/print-names.ts'
import { sameContent } from '../../expressions/same-content.ts'
import type { Flow } from '../flow.ts'
import type { KnownBlock, KnownBlocks } from './staged-blocks.ts'

export interface Reconciled {
  readonly flow: Flow
  readonly known: KnownBlocks
}

/**
 * Takes over what the server has now, except for blocks with changes that are not stored yet (`dirty`): those stay as they
 * are drawn and keep the state that they were changed from, so that sending them finds out whether another user was
 * faster. Blocks that did not change keep their identity.
 */
export function takeOver(
  flow: Flow,
  known: KnownBlocks,
  fresh: KnownBlocks,
  dirty: ReadonlySet<string>,
): Reconciled {
  const nextKnown = new Map<string, KnownBlock>()
  const next = new Map<string, BlockContent>()
  for (const [guid, block] of fresh) {
    if (dirty.has(guid)) continue
    const before = known.get(guid)
    // A block may be printed with other names although it did not change.
    const same = before?.hash === block.hash && sameJson(before.staged, block.staged)
    nextKnown.set(guid, same ? before : block)
    if (!block.staged) continue
    const drawn = flow.get(guid)
    next.set(guid, drawn && sameJson(drawn, block.staged) ? drawn : block.staged)
  }
  for (const guid of dirty) {
    const base = known.get(guid)
    if (base) nextKnown.set(guid, base)
  }
  // Blocks that are only drawn here stand where they stood: behind the others.
  for (const [guid, content] of flow) if (dirty.has(guid)) next.set(guid, content)
  const unchanged =
    next.size === flow.size && [...next].every(([guid, content]) => flow.get(guid) === content)
  return { flow: unchanged ? flow : withPresentNames(next), known: nextKnown }
}

export interface SentEdit {
  readonly guid: string
  readonly update_hash: string | null
  readonly content: BlockContent | null
}

/** The flow with the names that the server has given to blocks that had none. */
export function withRequestedNames(flow: Flow, known: KnownBlocks): Flow {
  const named = [...flow].map(([guid, content]): [string, BlockContent] => {
    const name = known.get(guid)?.staged?.name
    return [guid, content.name !== undefined || name === undefined ? content : { ...content, name }]
  })
  const unchanged = named.every(([guid, content]) => flow.get(guid) === content)
  return unchanged ? flow : withPresentNames(new Map(named))
}

/** What has to be sent so that the server has what is drawn. */
export function editsToSend(flow: Flow, known: KnownBlocks, dirty: Iterable<string>): SentEdit[] {
  const edits: SentEdit[] = []
  for (const guid of dirty) {
    const base = known.get(guid)
    const content = flow.get(guid) ?? null
    if (sameContent(base?.staged ?? null, content)) continue
    edits.push({ guid, update_hash: base?.hash ?? null, content })
  }
  return edits
}
