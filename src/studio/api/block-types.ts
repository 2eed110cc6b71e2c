import { queryOptions } from '@tanstack/react-query'
import type { BlockDescription } from '../../shared/api/blocks/blocks.ts'
import { call } from './request.ts'

/** It changes when Quoin is updated, and then a page is loaded again, and with extensions, which this studio is told of. */
export const blockTypesQuery = queryOptions({
  queryKey: ['block-types'],
  queryFn: ({ signal }) => call<BlockDescription[]>('GET', '/blocks', { signal }),
  staleTime: Number.POSITIVE_INFINITY,
})
