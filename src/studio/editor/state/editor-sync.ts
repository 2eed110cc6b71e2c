/**
 * Keeps what is drawn and what the server has together.
 *
 * A change of the drawing marks its blocks as dirty. Dirty blocks are sent together, one request at a time, each
 * with the hash of the state that it was changed from. The server stages all or none:
 *
 *   stored    → the blocks are clean; what was changed meanwhile is sent next
 *   conflict  → another user was faster: the blocks in question wait until a person has chosen; the others are sent again
 *   refused   → the change can never be (400, 403): it is taken back, without the others, and the reason is said
 *   unreached → it stays dirty, and is tried again after a pause, also when the blueprint was left meanwhile
 *
 * Some times a second the blocks are read again if they changed, so that the work of others appears.
 */
import type { BlockRecord } from '../../../shared/api/blueprints/blueprint-actions.ts'
import type { Blueprint, Problem } from '../../../shared/api/blueprints/blueprints.ts'
import type { BlueprintNote } from '../../../shared/blueprint-note.ts'
import { ApiError, messageOf } from '../../api/api-error.ts'
import { connections, secrets } from '../../api/operate.ts'
import { queryClient } from '../../api/query-client.ts'
import { session } from '../../api/session.ts'
import { notifyAbout } from '../../controls/notify.ts'
import { editorTexts } from '../../texts/editor.ts'
import { changeBlueprint, checkStaged, readIfChanged, stageEdits } from '../api/editor-api.ts'
import { sameContent } from '../expressions/same-content.ts'
import { notesOver } from '../model/changes/note.ts'
import {
  editsToSend,
  type Refusal,
  type SentEdit,
  sendEdits,
  takeOver,
  withDecision,
  withoutRefused,
  withRequestedNames,
} from '../model/changes/reconcile.ts'
import { readBlock, readBlocks, stagedFlow } from '../model/changes/staged-blocks.ts'
import { readable } from '../model/words/block-names.ts'
import type { EditorStore } from './editor-state.ts'

/** A server that answers at once is asked soon again; one that has much to do, or is far away, less often. */
const POLL = { least: 300, most: 1000, timesAnswer: 5 } as const
const GATHER_MS = 80
const CHECK_MS = 250
const RETRY_MS = 2000
/** So often in a row the server may say that there is a conflict where no block has changed: a blueprint that is full says so. */
const MOST_UNEXPLAINED = 2
/** Of one sending, those that are said. */
const MOST_REASONS = 3

/** Kinds of records that blocks name. */
const named: ReadonlySet<unknown> = new Set([secrets.key, connections.key])

/** Owns the timers and requests of one open blueprint, until `close`. */
export class EditorSync {
  readonly #store: EditorStore
  readonly #guid: string
  readonly #refused: (error: unknown) => void
  readonly #abort = new AbortController()
  /** Aborted when it is closed and nothing is left to be sent. */
  readonly #over = new AbortController()
  /** Its user has signed out: what is not stored is not sent as another one. */
  #gaveUp = false
  readonly #check: StagedCheck
  /** Blocks that were changed here and are not stored. */
  readonly #dirty = new Set<string>()
  /** Blocks that wait for a person. */
  readonly #disputed = new Set<string>()
  /** The notes of `blueprint`, from which those that are drawn were changed; undefined when what is drawn is stored. */
  #notesBase: readonly BlueprintNote[] | undefined
  #sending: Promise<void> | undefined
  /** How often in a row a conflict was answered in which no block had changed. */
  #unexplained = 0
  /** How often something was sent. */
  #sends = 0
  #tags = { blocks: '', blueprint: '' }
  #sendTimer: ReturnType<typeof setTimeout> | undefined
  #pollTimer: ReturnType<typeof setTimeout> | undefined

  constructor(store: EditorStore, refused: (error: unknown) => void) {
    this.#store = store
    this.#guid = store.getState().guid
    this.#refused = refused
    this.#check = new StagedCheck(store, this.#abort.signal)
    const warn = (event: BeforeUnloadEvent) => {
      if (this.#unstored()) event.preventDefault()
    }
    addEventListener('beforeunload', warn, { signal: this.#over.signal })
    this.#pollAfter(POLL.least)
  }

  /** These blocks were changed here. */
  changed(guids: Iterable<string>): void {
    for (const one of guids) this.#dirty.add(one)
    // A field that is left together with the editor says its last word a moment later.
    this.#sendAfter(this.#abort.signal.aborted ? 0 : GATHER_MS)
  }

  /** The notes were changed here; `before` is how they were. */
  notesChanged(before: readonly BlueprintNote[]): void {
    this.#notesBase ??= before
    this.#sendAfter(GATHER_MS)
  }

  /** Of a conflict: keep what is drawn here, or take what the server has, which can be undone. */
  resolve(guid: string, whose: 'mine' | 'theirs'): void {
    const state = this.#store.getState()
    const conflict = state.conflicts.find((each) => each.guid === guid)
    if (!conflict) return
    const label = whose === 'theirs' ? editorTexts.tookTheirs : undefined
    const decided = withDecision(state, conflict, { label, at: Date.now() })
    this.#disputed.delete(guid)
    if (whose === 'theirs') this.#dirty.delete(guid)
    this.#store.setState({ ...decided, conflicts: state.conflicts.filter((each) => each !== conflict) })
    this.#sendAfter(0)
  }

  /** Reads again what changed since the last time. */
  async refresh(): Promise<void> {
    const before = this.#sends
    const [blocks, blueprint] = await Promise.all([
      this.#readBlocks(this.#tags.blocks),
      this.#readBlueprint(this.#tags.blueprint),
    ])
    // A reply that was on its way while something was sent may be older than what was stored: blocks would vanish.
    if (this.#sending || this.#sends !== before) return
    this.#tags = { blocks: blocks.tag, blueprint: blueprint.tag }
    if (blueprint.value) this.#takeNotes(blueprint.value, this.#notesBase)
    if (!blocks.value) return
    this.#accept(readBlocks(blocks.value))
    this.#check.soon()
  }

  /** Resolves when all that was changed is stored; throws if it cannot be. */
  async settled(): Promise<void> {
    while (this.#sending || this.#open().length > 0 || this.#notesBase) {
      clearTimeout(this.#sendTimer)
      this.#flush()
      await this.#sending
      const { storing } = this.#store.getState()
      if (storing.state === 'failed') throw storing.error
    }
    if (this.#dirty.size > 0) throw new Error(editorTexts.conflictFirst)
  }

  close(): void {
    this.#abort.abort()
    clearTimeout(this.#pollTimer)
    this.#check.close()
    // What was drawn last is stored all the same, as soon as the server answers, but not in the name of another user.
    const forget = session.subscribe(({ token, expired }) => {
      if (token === '' && !expired) this.#giveUp()
    })
    this.#over.signal.addEventListener('abort', forget)
    this.#sendAfter(this.#unstored() ? 0 : GATHER_MS)
    if (this.#unstored() && this.#store.getState().storing.state === 'failed')
      notifyAbout(editorTexts.notStoredYet, editorTexts.notStoredYetText)
  }

  #giveUp(): void {
    this.#gaveUp = true
    this.#dirty.clear()
    this.#notesBase = undefined
    this.#over.abort()
  }

  #unstored(): boolean {
    return this.#dirty.size > 0 || this.#notesBase !== undefined
  }

  /** The changed blocks about which no person has to decide. */
  #open(): string[] {
    return [...this.#dirty].filter((one) => !this.#disputed.has(one))
  }

  #sendAfter(ms: number): void {
    clearTimeout(this.#sendTimer)
    this.#sendTimer = setTimeout(() => this.#flush(), ms)
  }

  #flush(): void {
    if (this.#sending || this.#gaveUp) return
    this.#sends += 1
    this.#sending = this.#send().finally(() => {
      this.#sending = undefined
      const { storing } = this.#store.getState()
      const isDone = this.#open().length === 0 && !this.#notesBase
      if (isDone) this.#store.setState({ storing: { state: 'stored' } })
      else this.#sendAfter(storing.state === 'failed' ? RETRY_MS : 0)
      // In a conflict that no one looks at, what the other user has done stays.
      if (isDone && this.#abort.signal.aborted) this.#over.abort()
    })
  }

  async #send(): Promise<void> {
    const { drawing, known } = this.#store.getState()
    const sent = this.#open()
    const edits = editsToSend(drawing.flow, known, sent)
    const changed = new Set(edits.map(({ guid }) => guid))
    for (const one of sent) if (!changed.has(one)) this.#dirty.delete(one)
    if (edits.length === 0 && !this.#notesBase) return
    this.#store.setState({ storing: { state: 'storing' } })
    const reasons = new Map<string, unknown>()
    try {
      await sendEdits(edits, {
        stage: (some) => this.#stage(some),
        refusalOf: (error) => this.#refusalOf(error),
        refuse: (some, error) => {
          reasons.set(messageOf(error), error)
          this.#reset(some)
        },
      })
      if (this.#notesBase) await this.#sendNotes()
      this.#store.setState({ storing: { state: 'stored' } })
      this.#check.soon()
    } catch (error) {
      // Another user has signed in where the session had expired.
      if (error instanceof DOMException && error.name === 'AbortError') this.#giveUp()
      this.#store.setState({ storing: { state: 'failed', error } })
    }
    for (const error of [...reasons.values()].slice(0, MOST_REASONS)) this.#refused(error)
  }

  /** Stages all or none. What another user has changed meanwhile waits then for a person. Throws what else went wrong. */
  async #stage(edits: readonly SentEdit[]): Promise<void> {
    // An edit of the same gesture that was stored before may have renamed what these refer to.
    const { known } = this.#store.getState()
    const present = edits.map((edit) => ({ ...edit, update_hash: known.get(edit.guid)?.hash ?? null }))
    try {
      this.#stored(present, await stageEdits(this.#guid, present))
      this.#unexplained = 0
    } catch (error) {
      if (!(error instanceof ApiError) || error.status !== 409) throw error
      if (await this.#dispute(present)) this.#unexplained = 0
      else {
        this.#unexplained += 1
        throw error
      }
    }
  }

  /** Which edits the server will never store; undefined: they are sent again. */
  #refusalOf(error: unknown): Refusal | undefined {
    const status = error instanceof ApiError ? error.status : 0
    if (status === 400 || status === 413) return 'some'
    if (status === 403 || status === 404) return 'all'
    if (status !== 409 || this.#unexplained < MOST_UNEXPLAINED) return undefined
    this.#unexplained = 0
    return 'added'
  }

  #stored(edits: readonly SentEdit[], records: readonly BlockRecord[]): void {
    const { known, drawing } = this.#store.getState()
    const next = new Map(known)
    for (const { guid } of edits) next.delete(guid)
    for (const record of records) next.set(record._meta.guid, readBlock(record))
    // What was changed again meanwhile stays dirty, on top of what is stored now.
    for (const { guid, content } of edits)
      if (sameContent(content, drawing.flow.get(guid) ?? null)) this.#dirty.delete(guid)
    const flow = withRequestedNames(drawing.flow, next)
    this.#store.setState({ known: next, ...(flow !== drawing.flow && { drawing: { ...drawing, flow } }) })
  }

  /** Takes back what can never be stored. What was drawn since stays, and is sent next. */
  #reset(edits: readonly SentEdit[]): void {
    const { drawing, known, history } = this.#store.getState()
    const refused = edits.filter(({ guid, content }) => sameContent(content, drawing.flow.get(guid) ?? null))
    for (const { guid } of refused) this.#dirty.delete(guid)
    const after = withoutRefused({ drawing, known, history }, new Set(refused.map(({ guid }) => guid)))
    this.#store.setState(after)
  }

  /** Finds out which blocks another user changed, and lets the user decide. False if there is none. */
  async #dispute(edits: readonly SentEdit[]): Promise<boolean> {
    const path = `/blueprints/${this.#guid}/blocks`
    const { value, tag } = await readIfChanged<BlockRecord[]>(path, '')
    this.#tags = { ...this.#tags, blocks: tag }
    const fresh = readBlocks(value ?? [])
    const { known, conflicts } = this.#store.getState()
    const lost = edits.map(({ guid }) => guid).filter((one) => fresh.get(one)?.hash !== known.get(one)?.hash)
    for (const one of lost) this.#disputed.add(one)
    const added = lost.map((guid) => ({ guid, theirs: fresh.get(guid) }))
    const rest = conflicts.filter(({ guid }) => !lost.includes(guid))
    this.#store.setState({ conflicts: [...rest, ...added] })
    this.#accept(fresh)
    if (lost.length > 0 && this.#abort.signal.aborted) this.#refused(new Error(editorTexts.overtaken))
    return lost.length > 0
  }

  async #sendNotes(): Promise<void> {
    for (let tries = 1; this.#notesBase; tries += 1) {
      const { blueprint, drawing } = this.#store.getState()
      if (!blueprint) return
      const sent = drawing.notes
      try {
        const hash = blueprint._meta.update_hash
        const stored = await changeBlueprint(this.#guid, { notes: sent, update_hash: hash })
        this.#takeNotes(stored, sent)
        this.#tags = { ...this.#tags, blueprint: '' }
        return
      } catch (error) {
        const status = error instanceof ApiError ? error.status : 0
        if (status === 409 && tries === 1) {
          // Also after the blueprint was left.
          const { value } = await readIfChanged<Blueprint>(`/blueprints/${this.#guid}`, '')
          if (value) this.#takeNotes(value, this.#notesBase)
          continue
        }
        if (![400, 403, 404, 413].includes(status)) throw error
        this.#refused(error)
        // What was written since is sent next.
        if (this.#store.getState().drawing.notes === sent) this.#resetNotes(this.#notesBase)
        return
      }
    }
  }

  #resetNotes(notes: readonly BlueprintNote[]): void {
    const { history, drawing } = this.#store.getState()
    this.#notesBase = undefined
    const done = history.done.filter((step) => step.notes.length === 0)
    this.#store.setState({ drawing: { ...drawing, notes }, history: { ...history, done } })
  }

  /** The server has these. What was changed here since `base` is drawn over them, and sent next. */
  #takeNotes(blueprint: Blueprint, base: readonly BlueprintNote[] | undefined): void {
    const { drawing } = this.#store.getState()
    const { notes, base: next } = notesOver(blueprint.notes ?? [], base ?? drawing.notes, drawing.notes)
    this.#notesBase = next
    this.#store.setState({ blueprint, drawing: { ...drawing, notes } })
  }

  /** Shows what the server has, but for the blocks that were changed here. */
  #accept(fresh: ReturnType<typeof readBlocks>): void {
    const { drawing, known, selection } = this.#store.getState()
    const taken = takeOver(drawing.flow, known, fresh, this.#dirty)
    const gone = [...selection].some((one) => !one.startsWith('note:') && !taken.flow.has(one))
    this.#store.setState({
      known: taken.known,
      ...(taken.flow !== drawing.flow && { drawing: { ...drawing, flow: taken.flow } }),
      ...(gone && { selection: new Set([...selection].filter((one) => taken.flow.has(one))) }),
    })
  }

  #readBlocks(tag: string) {
    return readIfChanged<BlockRecord[]>(`/blueprints/${this.#guid}/blocks`, tag, this.#abort.signal)
  }

  #readBlueprint(tag: string) {
    return readIfChanged<Blueprint>(`/blueprints/${this.#guid}`, tag, this.#abort.signal)
  }

  #pollAfter(ms: number): void {
    clearTimeout(this.#pollTimer)
    if (!this.#abort.signal.aborted) this.#pollTimer = setTimeout(() => this.#poll(), ms)
  }

  async #poll(): Promise<void> {
    const began = performance.now()
    if (document.visibilityState === 'visible' && !this.#sending) await this.refresh().catch(() => undefined)
    const answered = (performance.now() - began) * POLL.timesAnswer
    this.#pollAfter(Math.min(POLL.most, Math.max(POLL.least, answered)))
  }
}

/** Asks for the problems of what is staged, a moment after it changed. */
class StagedCheck {
  readonly #store: EditorStore
  readonly #signal: AbortSignal
  readonly #forgetNames: () => void
  #timer: ReturnType<typeof setTimeout> | undefined

  constructor(store: EditorStore, signal: AbortSignal) {
    this.#store = store
    this.#signal = signal
    this.#forgetNames = whenNamesChange(() => this.soon())
  }

  soon(): void {
    clearTimeout(this.#timer)
    if (!this.#signal.aborted) this.#timer = setTimeout(() => this.#ask(), CHECK_MS)
  }

  close(): void {
    clearTimeout(this.#timer)
    this.#forgetNames()
  }

  async #ask(): Promise<void> {
    const { guid, known } = this.#store.getState()
    try {
      const { problems, notes } = await checkStaged(guid, this.#signal)
      const checked = { problems: this.#readable(problems), notes: this.#readable(notes) }
      this.#store.setState({ checked, checkedFlow: stagedFlow(known) })
    } catch {
      // The next change asks again; until then the problems that were known stay.
    }
  }

  #readable<T extends Problem>(found: readonly T[]): T[] {
    const { drawing, catalogue } = this.#store.getState()
    return found.map((one) => ({ ...one, message: readable(one.message, drawing.flow, catalogue) }))
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
