/** A field of CodeMirror for an expression, or for text with values. It grows with what is in it. */
import {
  acceptCompletion,
  autocompletion,
  type Completion as CodeMirrorCompletion,
  type CompletionContext,
  pickedCompletion,
} from '@codemirror/autocomplete'
import { history, historyKeymap, standardKeymap } from '@codemirror/commands'
import { EditorState, type Extension, Prec, type Range, StateEffect, Transaction } from '@codemirror/state'
import {
  Decoration,
  type DecorationSet,
  EditorView,
  keymap,
  placeholder,
  tooltips,
  ViewPlugin,
  type ViewUpdate,
} from '@codemirror/view'
import { nonce } from '../../../theme/nonce.ts'
import type { Completion, Completions } from '../completions.ts'
import { tokensIn } from '../tokens.ts'
import { codeLook } from './code-look.ts'
import { valueChips } from './value-chips.ts'

/** What begins with the typed letters, with its help beside. Enter and Tab take it, Escape closes the list. */
function codeCompletion(completions: (text: string, at: number) => Completions | undefined) {
  return autocompletion({
    icons: false,
    maxRenderedOptions: 60,
    // Else Enter would end the field when it comes right after the list.
    interactionDelay: 0,
    activateOnCompletion: ({ type }) => type === 'block',
    override: [
      ({ state, pos, explicit }: CompletionContext) => {
        const found = completions(state.doc.toString(), pos)
        if (!found) return null
        const isStarted = found.from < pos || state.sliceDoc(0, pos).trimEnd().endsWith('.')
        if (!explicit && !isStarted) return null
        return { from: found.from, options: found.options.map(optionOf), validFor: /^[\w$]*$/ }
      },
    ],
  })
}

/** What the builder named comes before what every expression has. */
const boosts = { block: 3, pin: 3, field: 2, name: 2, function: 0, method: 0 } as const

function optionOf(completion: Completion): CodeMirrorCompletion {
  const { label, kind, detail, help } = completion
  return {
    label,
    detail,
    type: kind,
    boost: boosts[kind],
    ...(help !== '' && { info: () => infoOf(completion) }),
    ...(kind === 'block' && { apply: `${label}.` }),
    ...((kind === 'function' || kind === 'method') && { apply: called(detail === '()') }),
  }
}

/** Writes the brackets too, with the cursor where the arguments go. */
function called(isBare: boolean) {
  return (view: EditorView, picked: CodeMirrorCompletion, from: number, to: number) => {
    const isCalled = view.state.sliceDoc(to, to + 1) === '('
    const insert = isCalled ? picked.label : `${picked.label}()`
    const anchor = from + picked.label.length + (isBare ? 2 : 1)
    view.dispatch({
      changes: { from, to, insert },
      selection: { anchor },
      annotations: pickedCompletion.of(picked),
      userEvent: 'input.complete',
    })
  }
}

function infoOf({ help, example }: Completion): HTMLElement {
  const info = document.createElement('div')
  info.textContent = help
  if (example === undefined) return info
  const code = document.createElement('code')
  code.textContent = example
  info.append(code)
  return info
}

export interface CodeFieldInput {
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

export function openCodeField(input: CodeFieldInput): CodeField {
  const view = new EditorView({
    parent: input.parent,
    state: EditorState.create({
      doc: input.text,
      selection: { anchor: input.text.length },
      extensions: extensionsOf(input),
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

function extensionsOf(input: CodeFieldInput): Extension[] {
  const tooltipsIn = document.getElementById('main')
  return [
    EditorView.cspNonce.of(nonce()),
    EditorView.lineWrapping,
    history(),
    input.mode === 'text'
      ? valueChips(input.valueOpened)
      : [codeCompletion(input.completions), tokenMarks(input.problem)],
    codeLook,
    placeholder(input.placeholder),
    tooltips({ position: 'fixed', ...(tooltipsIn && { parent: tooltipsIn }) }),
    EditorView.contentAttributes.of((view) => ({
      'aria-label': input.label,
      'aria-describedby': input.describedBy,
      'aria-invalid': String(input.problem(view.state.doc.toString()) !== undefined),
      spellcheck: input.mode === 'text' ? 'true' : 'false',
    })),
    Prec.high(keymap.of(keysOf(input))),
    keymap.of([...historyKeymap, ...standardKeymap]),
    EditorView.updateListener.of(({ docChanged, transactions, state }) => {
      const isOwn = transactions.some((one) => one.docChanged && !one.annotation(Transaction.remote))
      if (docChanged && isOwn) input.changed(state.doc.toString())
    }),
    EditorView.domEventHandlers({ blur: () => input.finished() }),
  ]
}

/** Tab leaves the field, so that the keyboard is never caught in it. */
function keysOf({ finished, mode }: CodeFieldInput) {
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

interface Marked {
  readonly start: number
  readonly end: number
}

/** Colours for what the parts of an expression are, and a line under what is wrong. */
function tokenMarks(problem: (text: string) => Marked | undefined) {
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
