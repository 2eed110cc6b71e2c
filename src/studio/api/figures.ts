import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import type { FiguresOverTime } from '../../shared/api/operate/figures.ts'
import type { DatabaseRecord } from '../../shared/api/operate/nodes.ts'
import type { FigureRange } from '../../shared/charts/figure-ranges.ts'
import { call } from './request.ts'

/** What the cluster served over time; read again as often as a minute is stored. `until` of 0: up to now. */
export function figuresQuery(range: FigureRange, node: string, until: number) {
  return queryOptions({
    queryKey: ['figures', range, node, until],
    queryFn: ({ signal }) =>
      call<FiguresOverTime>('GET', '/_system/figures', {
        query: { range, ...(node !== '' && { node }), ...(until > 0 && { until }) },
        signal,
      }),
    refetchInterval: until > 0 ? false : 30_000,
    placeholderData: keepPreviousData,
  })
}

export const databaseQuery = queryOptions({
  queryKey: ['database'],
  queryFn: ({ signal }) => call<DatabaseRecord>('GET', '/_system/database', { signal }),
  refetchInterval: 10_000,
})
