/** How what the server has comes together with what is drawn. */
import type { BlockContent } from '../../../../shared/blueprint.ts'
import { sameJson } from '../../../../shared/json.ts'
import { withPresentNames } from '../../expressions/print-names.ts'
import { sameContent } from '../../expressions/same-content.ts'
import type { Flow } from '../flow.ts'
import { commandBetween, type Drawing } from './command.ts'
import { type History, remember } from './history.ts'
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

/** In one request, of which the server takes 2,000 and 1 MiB. */
const EDITS = 500
const BYTES = 512 * 1024
/** So many refused edits of one sending are looked for one by one. */
const MOST_REFUSED = 20

/** What cannot be stored: some of the edits, all of them, or those that add blocks. */
export type Refusal = 'some' | 'all' | 'added'

export interface EditSender {
  /** Stores all or none, and throws then. */
  stage(edits: readonly SentEdit[]): Promise<void>
  /** undefined: these may be stored later. */
  refusalOf(error: unknown): Refusal | undefined
  /** Takes back what is refused. */
  refuse(edits: readonly SentEdit[], error: unknown): void
}

/**
 * Sends edits in batches. Where the server refuses one it is looked for by halves, and the others are stored. Throws what is no
 * refusal: the edits that are left may be sent later.
 */
export async function sendEdits(edits: readonly SentEdit[], sender: EditSender): Promise<void> {
  let left = MOST_REFUSED
  const send = async (some: readonly SentEdit[]): Promise<void> => {
    if (some.length === 0) return
    try {
      return await sender.stage(some)
    } catch (error) {
      const refusal = sender.refusalOf(error)
      if (refusal === undefined) throw error
      if (refusal === 'some' && some.length > 1 && left > 0) {
        const middle = Math.ceil(some.length / 2)
        await send(some.slice(0, middle))
        return send(some.slice(middle))
      }
      left -= 1
      const added = refusal === 'added' ? some.filter((edit) => edit.update_hash === null) : []
      const refused = added.length > 0 ? added : some
      sender.refuse(refused, error)
      return send(some.filter((edit) => !refused.includes(edit)))
    }
  }
  for (const batch of batchesOf(edits)) await send(batch)
}

function batchesOf(edits: readonly SentEdit[]): SentEdit[][] {
  const batches: SentEdit[][] = []
  let bytes = 0
  for (const edit of edits) {
    const size = new TextEncoder().encode(JSON.stringify(edit)).length
    const batch = batches.at(-1)
    if (batch && batch.length < EDITS && bytes + size <= BYTES) batch.push(edit)
    else {
      batches.push([edit])
      bytes = 0
    }
    bytes += size
  }
  return batches
}

interface Drawn {
  readonly drawing: Drawing
  readonly known: KnownBlocks
  readonly history: History
}

/** A block that another user changed while it was changed here. */
export interface Conflict {
  readonly guid: string
  /** As it is on the server now; undefined: it is gone. */
  readonly theirs: KnownBlock | undefined
}

/**
 * After a person chose whose change of a block stays: their own is drawn over what the server has. Theirs is taken as a step, named by `label`, so
 * that undoing it brings the own one back.
 */
export function withDecision(
  { drawing, known, history }: Drawn,
  { guid, theirs }: Conflict,
  { label, at }: { readonly label: string | undefined; readonly at: number },
): Drawn {
  const nextKnown = new Map(known)
  if (theirs) nextKnown.set(guid, theirs)
  else nextKnown.delete(guid)
  if (label === undefined) return { drawing, history, known: nextKnown }
  const flow = new Map(drawing.flow)
  if (theirs?.staged) flow.set(guid, theirs.staged)
  else flow.delete(guid)
  const taken = { ...drawing, flow: withPresentNames(flow) }
  const command = commandBetween(label, drawing, { ...drawing, flow })
  return {
    drawing: taken,
    known: nextKnown,
    history: command ? remember(history, command, at) : history,
  }
}

/** Blocks that were refused as the server has them, and no step that would bring them back. Other blocks and steps stay. */
export function withoutRefused({ drawing, known, history }: Drawn, refused: ReadonlySet<string>) {
  const flow = new Map(drawing.flow)
  for (const guid of refused) {
    const before = known.get(guid)?.staged
    if (before) flow.set(guid, before)
    else flow.delete(guid)
  }
  const others = (steps: History['done']) =>
    steps.filter(({ edits }) => !edits.some(({ guid }) => refused.has(guid)))
  return {
    drawing: { ...drawing, flow: withPresentNames(flow) },
    history: { ...history, done: others(history.done), undone: others(history.undone) },
  }
}
