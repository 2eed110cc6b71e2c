import { useMemo, useRef, useState } from 'react'
import { forgetDocuments } from '../../../api/storages.ts'
import { notifyAbout, notifyDone, notifyFailed } from '../../../controls/notify.ts'
import { useShortcut } from '../../../shell/shortcuts.ts'
import { documentsTexts } from '../../../texts/documents.ts'
import { atMost } from '../grid/at-most.ts'
import { type DocumentChange, piecesOf, sizeOf, type UndoStep, wordsFor } from './undo-step.ts'

const MOST_STEPS = 100
/** Documents in all steps together. */
const MOST_DOCUMENTS = 20_000
const AT_ONCE = 4
const MOST_SAID = 5

interface SavedUndo {
  readonly step: UndoStep
  /** Writes of one act, such as a paste, are one step. */
  readonly act: object
}

export interface Undo {
  /** What the next undo takes back; undefined for nothing. */
  readonly next: string | undefined
  readonly isRunning: boolean
  record(step: UndoStep): void
  /** Adds to the step of this act. */
  recordChange(act: object, change: DocumentChange): void
  /** `settled`: writes that are on their way. */
  run(): void
}

/** What this tab has done to the documents of a storage, the latest last. Ctrl Z takes it back. */
export function useUndo(storage: string, settled: () => Promise<unknown>): Undo {
  const steps = useRef<readonly SavedUndo[]>([])
  const [next, setNext] = useState<string>()
  const [isRunning, setRunning] = useState(false)
  const running = useRef(false)
  const writes = useRef(settled)
  writes.current = settled
  const undo = useMemo(() => {
    const keep = (list: readonly SavedUndo[]) => {
      steps.current = bounded(list)
      const last = steps.current.at(-1)
      setNext(last && wordsFor(last.step))
    }
    return {
      record: (step: UndoStep) => keep([...steps.current, { step, act: {} }]),
      recordChange(act: object, change: DocumentChange) {
        const at = steps.current.findIndex((one) => one.act === act)
        const { step } = steps.current[at] ?? {}
        const changes = step?.kind === 'changed' ? [...step.changes, change] : [change]
        const saved: SavedUndo = { step: { kind: 'changed', changes }, act }
        keep(at < 0 ? [...steps.current, saved] : steps.current.with(at, saved))
      },
      async run() {
        if (running.current) return
        running.current = true
        setRunning(true)
        try {
          await writes.current()
          const last = steps.current.at(-1)
          if (!last) return
          const limit = atMost(AT_ONCE)
          const said = await Promise.all(piecesOf(storage, last.step).map((piece) => limit(piece)))
          keep(steps.current.filter((one) => one !== last))
          tell(last.step, said.flat())
        } catch (error) {
          notifyFailed(documentsTexts.couldNotUndo, error)
        } finally {
          await forgetDocuments(storage)
          running.current = false
          setRunning(false)
        }
      },
    }
  }, [storage])
  const run = () => void undo.run()
  useShortcut({ keys: 'mod+z', label: documentsTexts.undo, group: documentsTexts.documentsLabel }, run)
  return { ...undo, next, isRunning, run }
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

function tell(step: UndoStep, conflicts: readonly string[]): void {
  if (conflicts.length === 0) {
    notifyDone(documentsTexts.undone(wordsFor(step)))
    return
  }
  const more = conflicts.length - MOST_SAID
  notifyAbout(
    documentsTexts.notAllUndone,
    [
      ...conflicts.slice(0, MOST_SAID),
      ...(more > 0 ? [documentsTexts.andMore(more.toLocaleString())] : []),
    ].join(' '),
  )
}
