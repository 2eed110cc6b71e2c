/** One document as a register: what clients can do with it, and which answers are possible. */
import type { Model } from './linearizable.ts'

/** `token`: another text for each write. `count`: only ever grows. Together they are a version. null: there is none. */
export type DocumentState = { readonly token: string; readonly count: number } | null

export type DocumentInput =
  | { readonly do: 'create'; readonly token: string }
  | { readonly do: 'read' }
  | { readonly do: 'set'; readonly token: string }
  /** An update with the hash of the version that was read. */
  | { readonly do: 'swap'; readonly expected: DocumentState; readonly token: string }
  | { readonly do: 'add'; readonly amount: number }
  | { readonly do: 'delete' }

export type DocumentOutput =
  /** What the document is afterwards, or was last when it was deleted. */
  | { readonly is: 'done'; readonly document: DocumentState }
  | { readonly is: 'conflict' }
  | { readonly is: 'absent' }

export const documentModel: Model<DocumentState, DocumentInput, DocumentOutput> = {
  initial: null,
  step(state, input, output) {
    const result = apply(state, input)
    if (output === undefined) return result.after
    if (output.is !== result.is) return undefined
    if (output.is === 'done' && !same(output.document, result.shown ?? null)) return undefined
    return result.after
  },
  key: textOf,
}

interface Applied {
  readonly is: DocumentOutput['is']
  readonly after: DocumentState
  readonly shown?: DocumentState
}

function apply(state: DocumentState, input: DocumentInput): Applied {
  if (input.do === 'create') {
    const made = { token: input.token, count: 0 }
    return state === null ? { is: 'done', after: made, shown: made } : { is: 'conflict', after: state }
  }
  if (state === null) return { is: 'absent', after: null }
  if (input.do === 'read') return { is: 'done', after: state, shown: state }
  if (input.do === 'delete') return { is: 'done', after: null, shown: state }
  if (input.do === 'swap' && !same(input.expected, state)) return { is: 'conflict', after: state }
  const after =
    input.do === 'add' ? { ...state, count: state.count + input.amount } : { ...state, token: input.token }
  return { is: 'done', after, shown: after }
}

function same(one: DocumentState, other: DocumentState): boolean {
  return textOf(one) === textOf(other)
}

function textOf(state: DocumentState): string {
  return state === null ? 'none' : `${state.count} ${state.token}`
}
