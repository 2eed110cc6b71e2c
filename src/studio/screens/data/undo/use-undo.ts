import { useMemo, useRef, useState } from 'react'
import type { PutBackReply } from '../../../../shared/api/data/documents.ts'
import { call } from '../../../api/request.ts'
import { forgetDocuments } from '../../../api/storages.ts'
import { notifyAbout, notifyDone, notifyFailed } from '../../../controls/notify.ts'
import { useShortcut } from '../../../shell/shortcuts.ts'
import { documentsTexts } from '../../../texts/documents.ts'
import {
  conflictsIn,
  type DocumentChange,
  oneByOne,
  requestsOf,
  sizeOf,
  type UndoStep,
  wordsFor,
} from './undo-step.ts'

const MOST_STEPS = 100
/** Documents in all steps together. */
const MOST_DOCUMENTS = 20_000
const MOST_SAID = 5

interface SavedUndo {
  readonly step: UndoStep
  /** Writes of one act, such as a paste, are one step. */
  readonly act: object
}

type Way = 'undo' | 'redo'

export interface Undo {
  /** What the next undo takes back, and the next redo does again; undefined for nothing. */
  readonly next: Readonly<Record<Way, string | undefined>>
  readonly isRunning: boolean
  record(step: UndoStep): void
  /** Adds to the step of this act. */
  recordChange(act: object, change: DocumentChange): void
  run(way: Way): void
}

/** What this tab has done to the documents of a storage, the latest last. `settled`: writes that are on their way. */
export function useUndo(storage: string, settled: () => Promise<unknown>): Undo {
  const steps = useRef<Readonly<Record<Way, readonly SavedUndo[]>>>({ undo: [], redo: [] })
  const [next, setNext] = useState<Undo['next']>({ undo: undefined, redo: undefined })
  const [isRunning, setRunning] = useState(false)
  const writes = useRef(settled)
  writes.current = settled
  const undo = useMemo(() => {
    const keep = (undo: readonly SavedUndo[], redo: readonly SavedUndo[]) => {
      steps.current = { undo: bounded(undo), redo: bounded(redo) }
      setNext({ undo: wordsOfLast(steps.current.undo), redo: wordsOfLast(steps.current.redo) })
    }
    const send = async (way: Way) => {
      await writes.current()
      const last = steps.current[way].at(-1)
      if (!last) return
      tell(way, last.step, await sent(storage, last.step, way))
      const { undo, redo } = steps.current
      const without = (list: readonly SavedUndo[]) => list.filter((one) => one !== last)
      if (way === 'undo') keep(without(undo), [...redo, last])
      else keep([...undo, last], without(redo))
    }
    const run = oneByOne<Way>(MOST_STEPS, async (way) => {
      setRunning(true)
      try {
        await send(way)
      } catch (error) {
        notifyFailed(way === 'undo' ? documentsTexts.couldNotUndo : documentsTexts.couldNotRedo, error)
        throw error
      } finally {
        await forgetDocuments(storage)
        setRunning(false)
      }
    })
    return {
      record: (step: UndoStep) => keep([...steps.current.undo, { step, act: {} }], []),
      recordChange(act: object, change: DocumentChange) {
        const before = steps.current.undo
        const at = before.findIndex((one) => one.act === act)
        const { step } = before[at] ?? {}
        const changes = step?.kind === 'changed' ? [...step.changes, change] : [change]
        const saved: SavedUndo = { step: { kind: 'changed', changes }, act }
        keep(at < 0 ? [...before, saved] : before.with(at, saved), [])
      },
      // `notifyFailed` has said it.
      run: (way: Way) => void run(way).catch(() => undefined),
    }
  }, [storage])
  const group = documentsTexts.documentsLabel
  useShortcut({ keys: 'mod+z', label: documentsTexts.undo, group }, () => undo.run('undo'))
  useShortcut({ keys: 'mod+shift+z', label: documentsTexts.redo, group }, () => undo.run('redo'))
  return { ...undo, next, isRunning }
}

function wordsOfLast(steps: readonly SavedUndo[]): string | undefined {
  const last = steps.at(-1)
  return last && wordsFor(last.step)
}

/** Gives what stays as it is. */
async function sent(storage: string, step: UndoStep, way: Way): Promise<readonly string[]> {
  const conflicts: string[] = []
  for (const { path, body } of requestsOf(step, way)) {
    const reply = await call<Partial<PutBackReply>>(
      'POST',
      `/_system/storages/${storage}/documents/${path}`,
      {
        body,
      },
    )
    conflicts.push(...conflictsIn(reply))
  }
  return conflicts
}

function bounded(steps: readonly SavedUndo[]): readonly SavedUndo[] {
  let left = MOST_DOCUMENTS
  const remaining = steps.slice(-MOST_STEPS)
  const first = remaining.findLastIndex(({ step }) => {
    left -= sizeOf(step)
    return left < 0
  })
  return remaining.slice(first + 1)
}

function tell(way: Way, step: UndoStep, conflicts: readonly string[]): void {
  if (conflicts.length === 0) {
    const words = wordsFor(step)
    notifyDone(way === 'undo' ? documentsTexts.undone(words) : documentsTexts.redone(words))
    return
  }
  const more = conflicts.length - MOST_SAID
  notifyAbout(
    way === 'undo' ? documentsTexts.notAllUndone : documentsTexts.notAllRedone,
    [
      ...conflicts.slice(0, MOST_SAID),
      ...(more > 0 ? [documentsTexts.andMore(more.toLocaleString())] : []),
    ].join(' '),
  )
}
