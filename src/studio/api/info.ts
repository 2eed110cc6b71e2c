import { queryOptions } from '@tanstack/react-query'
import type { Info } from '../../shared/api/operate/nodes.ts'
import { call } from './request.ts'

export const infoQuery = queryOptions({
  queryKey: ['info'],
  queryFn: ({ signal }) => call<Info>('GET', '/info', { signal }),
  staleTime: 60_000,
})
