import { queryOptions } from '@tanstack/react-query'
import { call } from './request.ts'

export interface PinOfType {
  readonly type: string
  readonly help: string
  readonly required?: true
  readonly default?: unknown
}

/** A kind of block as the reference shows it; the editor reads more of it. */
export interface BlockType {
  readonly identifier: string
  readonly aliases: readonly string[]
  readonly group: string
  readonly kind: 'value' | 'flow' | 'trigger'
  readonly title: string
  readonly summary: string
  readonly in: Readonly<Record<string, PinOfType>>
  readonly out: Readonly<Record<string, PinOfType>>
  readonly settings: Readonly<Record<string, { readonly help: string; readonly kind: string }>>
}

/** It changes only when Quoin is updated. */
export const blockTypesQuery = queryOptions({
  queryKey: ['block-types'],
  queryFn: ({ signal }) => call<BlockType[]>('GET', '/blocks', { signal }),
  staleTime: Number.POSITIVE_INFINITY,
})
