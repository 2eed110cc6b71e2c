import {
  autocompletion,
  type Completion as CodeMirrorCompletion,
  type CompletionContext,
  pickedCompletion,
} from '@codemirror/autocomplete'
import type { EditorView } from '@codemirror/view'
import type { Completion, Completions } from '../completions.ts'

/** What begins with the typed letters, with its help beside. Enter and Tab take it, Escape closes the list. */
export function codeCompletion(completions: (text: string, at: number) => Completions | undefined) {
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
