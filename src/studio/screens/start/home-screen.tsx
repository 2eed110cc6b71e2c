import { useQuery } from '@tanstack/react-query'
import { Redirect } from 'wouter'
import type { Blueprint } from '../../../shared/api/blueprints/blueprints.ts'
import { search } from '../../api/request.ts'
import { LoadingScreen } from '../../controls/states.tsx'
import { startTexts } from '../../texts/start.ts'

/** Where one arrives: at the first steps while the cluster has no more than the example, else at the blueprints. */
export function HomeScreen() {
  const { data, isError } = useQuery({
    queryKey: ['blueprints', startTexts.howMany],
    queryFn: async ({ signal }) =>
      (await search<Blueprint>('/blueprints/search', { limit: 0 }, signal)).total,
    retry: false,
  })
  if (data === undefined && !isError) return <LoadingScreen />
  return <Redirect to={data !== undefined && data <= 1 ? '/welcome' : '/blueprints'} replace />
}
