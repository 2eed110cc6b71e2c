/** A field of CodeMirror for an expression, or for text with values. It grows with what is in it. */
import { acceptCompletion } from '@codemirror/autocomplete'
import { history, historyKeymap, standardKeymap } from '@codemirror/commands'
import { EditorState, type Extension, Prec, StateEffect, Transaction } from '@codemirror/state'
import { EditorView, keymap, placeholder, tooltips } from '@codemirror/view'
import { nonce } from '../../../theme/nonce.ts'
import type { Completions } from '../completions.ts'
import { codeCompletion } from './code-completion.ts'
import { codeLook } from './code-look.ts'
import { type Marked, tokenMarks } from './token-marks.ts'
import { valueChips } from './value-chips.ts'

export interface CodeFieldGiven {
  readonly parent: HTMLElement
  readonly text: string
  readonly label: string
  readonly placeholder: string
  /** Id of what is said about the field. */
  readonly describedBy: string
  readonly mode: 'expression' | 'text'
  completions(text: string, at: number): Completions | undefined
  /** What is wrong with the text. */
  problem(text: string): Marked | undefined
  changed(text: string): void
  /** Enter is pressed, or the field is left. */
  finished(): void
  /** A value of a text was clicked; it is selected now. */
  valueOpened(path: string): void
}

export interface CodeField {
  readonly element: HTMLElement
  /** Another text from outside; undo of the field does not go back behind it. */
  set(text: string): void
  /** In place of what is selected. */
  insert(text: string): void
  focus(cursor?: number): void
  /** What it is checked against has changed. */
  refresh(): void
  close(): void
}

const refreshed = StateEffect.define<null>()

export function openCodeField(given: CodeFieldGiven): CodeField {
  const view = new EditorView({
    parent: given.parent,
    state: EditorState.create({
      doc: given.text,
      selection: { anchor: given.text.length },
      extensions: extensionsOf(given),
    }),
  })
  return {
    element: view.contentDOM,
    set(text) {
      if (view.state.doc.toString() === text) return
      view.dispatch({
        changes: { from: 0, to: view.state.doc.length, insert: text },
        annotations: [Transaction.addToHistory.of(false), Transaction.remote.of(true)],
      })
    },
    insert(text) {
      view.dispatch(view.state.replaceSelection(text))
      view.focus()
    },
    focus(cursor) {
      if (cursor !== undefined && cursor <= view.state.doc.length)
        view.dispatch({ selection: { anchor: cursor } })
      view.focus()
    },
    refresh: () => view.dispatch({ effects: refreshed.of(null) }),
    close: () => view.destroy(),
  }
}

function extensionsOf(given: CodeFieldGiven): Extension[] {
  const tooltipsIn = document.getElementById('main')
  return [
    EditorView.cspNonce.of(nonce()),
    EditorView.lineWrapping,
    history(),
    given.mode === 'text'
      ? valueChips(given.valueOpened)
      : [codeCompletion(given.completions), tokenMarks(given.problem)],
    codeLook,
    placeholder(given.placeholder),
    tooltips({ position: 'fixed', ...(tooltipsIn && { parent: tooltipsIn }) }),
    EditorView.contentAttributes.of((view) => ({
      'aria-label': given.label,
      'aria-describedby': given.describedBy,
      'aria-invalid': String(given.problem(view.state.doc.toString()) !== undefined),
      spellcheck: given.mode === 'text' ? 'true' : 'false',
    })),
    Prec.high(keymap.of(keysOf(given))),
    keymap.of([...historyKeymap, ...standardKeymap]),
    EditorView.updateListener.of(({ docChanged, transactions, state }) => {
      const isOwn = transactions.some((one) => one.docChanged && !one.annotation(Transaction.remote))
      if (docChanged && isOwn) given.changed(state.doc.toString())
    }),
    EditorView.domEventHandlers({ blur: () => given.finished() }),
  ]
}

/** Tab leaves the field, so that the keyboard is never caught in it. */
function keysOf({ finished, mode }: CodeFieldGiven) {
  const enter = () => {
    finished()
    return true
  }
  return mode === 'text'
    ? []
    : [
        { key: 'Tab', run: acceptCompletion },
        { key: 'Enter', run: enter, shift: () => false },
      ]
}
