/**
 * Keeps what is drawn and what the server has together.
 *
 * A change of the drawing marks its blocks as dirty. Dirty blocks are sent together, one request at a time, each
 * with the hash of the state that it was changed from. The server stages all or none:
 *
 *   stored    → the blocks are clean; what was changed meanwhile is sent next
 *   conflict  → another user was faster: the blocks in question wait until a person has chosen; the others are sent again
 *   refused   → the change can never be (400, 403): it is taken back, and the reason is said
 *   unreached → it stays dirty, and is tried again after a pause
 *
 * Some times a second the blocks are read again if they changed, so that the work of others appears.
 */
import type { BlockRecord } from '../../../shared/api/blueprints/blueprint-actions.ts'
import type { Blueprint, Problem } from '../../../shared/api/blueprints/blueprints.ts'
import type { BlueprintNote } from '../../../shared/blueprint-note.ts'
import { sameJson } from '../../../shared/json.ts'
import { ApiError } from '../../api/api-error.ts'
import { connections, secrets } from '../../api/operate.ts'
import { queryClient } from '../../api/query-client.ts'
import { editorTexts } from '../../texts/editor.ts'
import { changeBlueprint, checkStaged, readIfChanged, stageEdits } from '../api/editor-api.ts'
import { withPresentNames } from '../expressions/print-names.ts'
import { sameContent } from '../expressions/same-content.ts'
import { mergeNotes } from '../model/changes/note.ts'
import { editsToSend, type SentEdit, takeOver, withRequestedNames } from '../model/changes/reconcile.ts'
import { readBlock, readBlocks, stagedFlow } from '../model/changes/staged-blocks.ts'
import { readable } from '../model/words/block-names.ts'
import type { EditorStore } from './editor-state.ts'

export interface EditorSync {
  /** These blocks were changed here. */
  changed(guids: Iterable<string>): void
  /** The notes were changed here; `before` is how they were. */
  notesChanged(before: readonly BlueprintNote[]): void
  /** Of a conflict: keep what is drawn here, or take what the server has. */
  resolve(guid: string, whose: 'mine' | 'theirs'): void
  /** Reads everything again now. */
  refresh(): Promise<void>
  /** Resolves when all that was changed is stored; throws if it cannot be. */
  settled(): Promise<void>
  close(): void
}

/** A server that answers at once is asked soon again; one that has much to do, or is far away, less often. */
const POLL = { least: 300, most: 1000, timesAnswer: 5 } as const
const GATHER_MS = 80
const CHECK_MS = 250
const RETRY_MS = 2000

/** Kinds of records that blocks name. */
const named: ReadonlySet<unknown> = new Set([secrets.key, connections.key])

export function openEditorSync(store: EditorStore, refused: (error: unknown) => void): EditorSync {
  const { guid } = store.getState()
  const abort = new AbortController()
  const dirty = new Set<string>()
  /** Blocks that wait for a person. */
  const disputed = new Set<string>()
  let notesBase: readonly BlueprintNote[] | undefined
  let sending: Promise<void> | undefined
  /** How often something was sent. */
  let sends = 0
  let timer: ReturnType<typeof setTimeout> | undefined
  let checkTimer: ReturnType<typeof setTimeout> | undefined
  let tags = { blocks: '', blueprint: '' }

  function schedule(after = GATHER_MS): void {
    clearTimeout(timer)
    timer = setTimeout(flush, after)
  }

  function flush(): void {
    if (sending) return
    sends += 1
    sending = send().finally(() => {
      sending = undefined
      const { storing } = store.getState()
      if (abort.signal.aborted) return
      if (storing.state === 'failed') schedule(RETRY_MS)
      else if (open().length > 0 || notesBase) schedule(0)
      else store.setState({ storing: { state: 'stored' } })
    })
  }

  const open = () => [...dirty].filter((one) => !disputed.has(one))

  async function send(): Promise<void> {
    const { drawing, known } = store.getState()
    const sent = open()
    const edits = editsToSend(drawing.flow, known, sent)
    if (edits.length === 0) for (const one of sent) dirty.delete(one)
    if (edits.length === 0 && !notesBase) return
    store.setState({ storing: { state: 'storing' } })
    try {
      if (edits.length > 0) {
        const records = await stageEdits(guid, edits)
        stored(sent, edits, records)
      }
      if (notesBase) await sendNotes(notesBase)
      store.setState({ storing: { state: 'stored' } })
      scheduleCheck()
    } catch (error) {
      await failed(error, sent)
    }
  }

  function stored(
    sent: readonly string[],
    edits: readonly SentEdit[],
    records: readonly BlockRecord[],
  ): void {
    const { known, drawing } = store.getState()
    const next = new Map(known)
    for (const { guid: one } of edits) next.delete(one)
    for (const record of records) next.set(record._meta.guid, readBlock(record))
    const content = new Map(edits.map((edit) => [edit.guid, edit.content]))
    // What was changed again meanwhile stays dirty, on top of what is stored now.
    for (const one of sent) {
      const drawn = drawing.flow.get(one) ?? null
      const stored = content.has(one) ? content.get(one) : next.get(one)?.staged
      if (sameContent(stored ?? null, drawn)) dirty.delete(one)
    }
    const flow = withRequestedNames(drawing.flow, next)
    store.setState({ known: next, ...(flow !== drawing.flow && { drawing: { ...drawing, flow } }) })
  }

  async function failed(error: unknown, sent: readonly string[]): Promise<void> {
    const status = error instanceof ApiError ? error.status : 0
    if (status === 409) return dispute(sent)
    if (status === 400 || status === 403 || status === 404 || status === 413) {
      takeBack(sent)
      refused(error)
      return
    }
    store.setState({ storing: { state: 'failed', error } })
  }

  /** Finds out which blocks another user changed, and lets the user decide. */
  async function dispute(sent: readonly string[]): Promise<void> {
    const fresh = readBlocks(await readAll())
    const { known, conflicts } = store.getState()
    const lost = sent.filter((one) => fresh.get(one)?.hash !== known.get(one)?.hash)
    for (const one of lost) disputed.add(one)
    const added = lost.map((one) => ({ guid: one, theirs: fresh.get(one) }))
    const rest = conflicts.filter(({ guid: one }) => !lost.includes(one))
    store.setState({ conflicts: [...rest, ...added] })
    accept(fresh)
  }

  function takeBack(sent: readonly string[]): void {
    const { drawing, known, history } = store.getState()
    const flow = new Map(drawing.flow)
    for (const one of sent) {
      dirty.delete(one)
      const before = known.get(one)?.staged
      if (before) flow.set(one, before)
      else flow.delete(one)
    }
    store.setState({
      drawing: { ...drawing, flow: withPresentNames(flow) },
      history: { ...history, done: history.done.slice(0, -1) },
      storing: { state: 'stored' },
    })
  }

  async function sendNotes(base: readonly BlueprintNote[]): Promise<void> {
    const { blueprint, drawing } = store.getState()
    if (!blueprint) return
    const mine = drawing.notes
    const put = (notes: readonly BlueprintNote[], hash: string) =>
      changeBlueprint(guid, { notes, update_hash: hash })
    try {
      took(await put(mine, blueprint._meta.update_hash))
    } catch (error) {
      if (!(error instanceof ApiError) || error.status !== 409) {
        if (error instanceof ApiError && error.status >= 400 && error.status < 500 && error.status !== 401) {
          notesBase = undefined
          store.setState({ drawing: { ...store.getState().drawing, notes: base } })
        }
        throw error
      }
      const { value } = await readIfChanged<Blueprint>(`/blueprints/${guid}`, '', abort.signal)
      if (!value) return
      took(await put(mergeNotes(base, mine, value.notes ?? []), value._meta.update_hash))
    }

    function took(blueprint: Blueprint): void {
      const now = store.getState().drawing
      notesBase = now.notes === mine ? undefined : mine
      const notes = now.notes === mine ? keepNotes(mine, blueprint.notes ?? []) : now.notes
      store.setState({ blueprint, drawing: { ...now, notes } })
      tags = { ...tags, blueprint: '' }
    }
  }

  function accept(fresh: ReturnType<typeof readBlocks>): void {
    const { drawing, known, selection } = store.getState()
    const taken = takeOver(drawing.flow, known, fresh, dirty)
    const gone = [...selection].some((one) => !one.startsWith('note:') && !taken.flow.has(one))
    store.setState({
      known: taken.known,
      ...(taken.flow !== drawing.flow && { drawing: { ...drawing, flow: taken.flow } }),
      ...(gone && { selection: new Set([...selection].filter((one) => taken.flow.has(one))) }),
    })
  }

  async function readAll(): Promise<BlockRecord[]> {
    const { value, tag } = await readIfChanged<BlockRecord[]>(`/blueprints/${guid}/blocks`, '', abort.signal)
    tags = { ...tags, blocks: tag }
    return value ?? []
  }

  async function refresh(): Promise<void> {
    const before = sends
    const [blocks, blueprint] = await Promise.all([
      readIfChanged<BlockRecord[]>(`/blueprints/${guid}/blocks`, tags.blocks, abort.signal),
      readIfChanged<Blueprint>(`/blueprints/${guid}`, tags.blueprint, abort.signal),
    ])
    // A reply that was on its way while something was sent may be older than what was stored: blocks would vanish.
    if (sending || sends !== before) return
    tags = { blocks: blocks.tag, blueprint: blueprint.tag }
    if (blueprint.value) {
      const { drawing } = store.getState()
      const notes = notesBase ? drawing.notes : keepNotes(drawing.notes, blueprint.value.notes ?? [])
      store.setState({ blueprint: blueprint.value, drawing: { ...drawing, notes } })
    }
    if (!blocks.value) return
    accept(readBlocks(blocks.value))
    scheduleCheck()
  }

  function scheduleCheck(): void {
    clearTimeout(checkTimer)
    if (abort.signal.aborted) return
    checkTimer = setTimeout(async () => {
      try {
        const { known } = store.getState()
        const { problems, notes } = await checkStaged(guid, abort.signal)
        const checked = { problems: readableIn(store, problems), notes: readableIn(store, notes) }
        store.setState({ checked, checkedFlow: stagedFlow(known) })
      } catch {
        // The next change asks again; until then the problems that were known stay.
      }
    }, CHECK_MS)
  }

  const warn = (event: BeforeUnloadEvent) => {
    if (dirty.size > 0 || notesBase) event.preventDefault()
  }
  const forgetNames = whenNamesChange(scheduleCheck)
  addEventListener('beforeunload', warn)

  let pollTimer: ReturnType<typeof setTimeout> | undefined
  function schedulePoll(after: number): void {
    clearTimeout(pollTimer)
    if (!abort.signal.aborted) pollTimer = setTimeout(poll, after)
  }

  async function poll(): Promise<void> {
    const began = performance.now()
    if (document.visibilityState === 'visible' && !sending) await refresh().catch(() => undefined)
    const answered = (performance.now() - began) * POLL.timesAnswer
    schedulePoll(Math.min(POLL.most, Math.max(POLL.least, answered)))
  }
  schedulePoll(POLL.least)

  return {
    changed(guids) {
      for (const one of guids) dirty.add(one)
      // A field that is left together with the editor says its last word a moment later.
      schedule(abort.signal.aborted ? 0 : GATHER_MS)
    },
    notesChanged(before) {
      notesBase ??= before
      schedule()
    },
    resolve(one, whose) {
      const { conflicts, drawing, known } = store.getState()
      const conflict = conflicts.find((each) => each.guid === one)
      if (!conflict) return
      disputed.delete(one)
      const nextKnown = new Map(known)
      if (conflict.theirs) nextKnown.set(one, conflict.theirs)
      else nextKnown.delete(one)
      const flow = new Map(drawing.flow)
      if (whose === 'theirs') {
        dirty.delete(one)
        if (conflict.theirs?.staged) flow.set(one, conflict.theirs.staged)
        else flow.delete(one)
      }
      store.setState({
        known: nextKnown,
        drawing: { ...drawing, flow: withPresentNames(flow) },
        conflicts: conflicts.filter((each) => each !== conflict),
      })
      schedule(0)
    },
    refresh,
    async settled() {
      while (sending || open().length > 0 || notesBase) {
        clearTimeout(timer)
        flush()
        await sending
        const { storing } = store.getState()
        if (storing.state === 'failed') throw storing.error
      }
      if (dirty.size > 0) throw new Error(editorTexts.conflictFirst)
    },
    close() {
      abort.abort()
      clearTimeout(pollTimer)
      clearTimeout(checkTimer)
      removeEventListener('beforeunload', warn)
      forgetNames()
      // What was drawn last is stored all the same.
      if (dirty.size > 0 || notesBase) schedule(0)
    },
  }
}

/** A secret or connection that was missing may have been set, here or in another tab. Gives what ends it. */
function whenNamesChange(check: () => void): () => void {
  addEventListener('focus', check)
  const unsubscribe = queryClient.getQueryCache().subscribe(({ type, query }) => {
    if (type === 'updated' && named.has(query.queryKey[0]) && query.state.status === 'success') check()
  })
  return () => {
    removeEventListener('focus', check)
    unsubscribe()
  }
}

function keepNotes(
  before: readonly BlueprintNote[],
  now: readonly BlueprintNote[],
): readonly BlueprintNote[] {
  return sameJson(before, now) ? before : now
}

function readableIn<T extends Problem>(store: EditorStore, found: readonly T[]): T[] {
  const { drawing, catalogue } = store.getState()
  return found.map((one) => ({ ...one, message: readable(one.message, drawing.flow, catalogue) }))
}
