import { SimpleGrid } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { findSystemLogs, nodesQuery, queuesQuery } from '../../api/operations.ts'
import { ScreenHead } from '../../controls/screen-head.tsx'
import { operateTexts } from '../../texts/operate.ts'
import { DatabaseFacts } from './database-facts.tsx'
import { EndpointTraffic } from './endpoint-traffic.tsx'
import { NumberCard } from './number-card.tsx'

const HOUR = 3_600

/** How the cluster is, on one page. */
export function OverviewScreen() {
  const { data: queues } = useQuery(queuesQuery)
  const { data: nodes } = useQuery(nodesQuery)
  const { data: errors } = useQuery({
    queryKey: ['logs', 'system', operateTexts.errorsLastHour],
    queryFn: async ({ signal }) => {
      const since = Math.floor(Date.now() / 1000) - HOUR
      const filters = { level: 'error', '_meta.created': { gte: since } }
      return (await findSystemLogs({ filters, limit: 0 }, signal)).total
    },
    refetchInterval: 10_000,
  })
  const sum = (of: 'depth' | 'dead') => queues?.reduce((all, queue) => all + queue[of], 0)
  const live = nodes?.filter((node) => node.live).length
  const gone = nodes === undefined || live === undefined ? undefined : nodes.length - live
  return (
    <>
      <ScreenHead title={operateTexts.overview} about={operateTexts.overviewAbout} />
      <SimpleGrid cols={{ base: 2, lg: 4 }} mb="lg">
        <NumberCard
          label={operateTexts.errorsLastHourText}
          value={errors}
          bad={(errors ?? 0) > 0}
          href="/operate/system-log?level=error"
        />
        <NumberCard
          label={operateTexts.deadLetters}
          value={sum('dead')}
          bad={(sum('dead') ?? 0) > 0}
          href="/operate/queues?status=dead"
        />
        <NumberCard
          label={operateTexts.waitingJobs}
          value={sum('depth')}
          href="/operate/queues?status=waiting"
        />
        <NumberCard
          label={gone ? operateTexts.nodesLiveAndGone(gone) : operateTexts.nodesLive}
          value={live}
          bad={(gone ?? 0) > 0}
          href="/operate/nodes"
        />
      </SimpleGrid>
      <DatabaseFacts />
      <EndpointTraffic />
    </>
  )
}
