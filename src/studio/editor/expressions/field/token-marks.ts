import type { Range } from '@codemirror/state'
import {
  Decoration,
  type DecorationSet,
  type EditorView,
  ViewPlugin,
  type ViewUpdate,
} from '@codemirror/view'
import { tokensIn } from '../tokens.ts'

export interface Marked {
  readonly start: number
  readonly end: number
}

/** Colours for what the parts of an expression are, and a line under what is wrong. */
export function tokenMarks(problem: (text: string) => Marked | undefined) {
  return ViewPlugin.fromClass(
    class {
      marks: DecorationSet

      constructor({ state }: EditorView) {
        this.marks = marksIn(state.doc.toString(), problem)
      }

      update({ docChanged, state, transactions }: ViewUpdate) {
        if (docChanged || transactions.some(({ effects }) => effects.length > 0))
          this.marks = marksIn(state.doc.toString(), problem)
      }
    },
    { decorations: ({ marks }) => marks },
  )
}

function marksIn(text: string, problem: (text: string) => Marked | undefined): DecorationSet {
  const marks: Range<Decoration>[] = tokensIn(text).map(({ kind, start, end }) =>
    Decoration.mark({ class: `cm-e-${kind}` }).range(start, end),
  )
  const wrong = problem(text)
  if (wrong) {
    // What is missing at the end is marked on the last character.
    const end = Math.min(text.length, Math.max(wrong.end, wrong.start + 1))
    const start = Math.min(wrong.start, end - 1)
    if (start >= 0 && start < end) marks.push(Decoration.mark({ class: 'cm-e-problem' }).range(start, end))
  }
  return Decoration.set(marks, true)
}
