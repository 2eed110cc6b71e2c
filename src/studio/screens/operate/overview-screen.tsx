import { SimpleGrid, Text, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from 'wouter'
import type { DatabaseRecord } from '../../../shared/api/operate/nodes.ts'
import { databaseQuery } from '../../api/operate.ts'
import { findSystemLogs, nodesQuery, queuesQuery } from '../../api/operations.ts'
import { bytes } from '../../controls/amounts.ts'
import { ScreenHead } from '../../controls/screen-head.tsx'
import { ErrorNotice } from '../../controls/states.tsx'
import { operateTexts } from '../../texts/operate.ts'
import { EndpointTraffic } from './endpoint-traffic.tsx'
import classes from './number-card.module.css'

const engineNames: ReadonlyMap<string, string> = new Map(Object.entries(operateTexts.engines))

/** Nothing but its terms may stand in the list itself, so that it is the grid. */
const grid = {
  display: 'grid',
  gridTemplateColumns: 'repeat(auto-fit, minmax(150px, 1fr))',
  gap: 16,
  margin: 0,
  padding: '14px 18px',
}

/** The database at this moment: what grows, and what is used up. */
function DatabaseFacts() {
  const { data, error } = useQuery(databaseQuery)
  return (
    <section style={{ marginBottom: 24 }}>
      <Title order={2} mb="xs">
        {operateTexts.database}
      </Title>
      {error ? <ErrorNotice error={error} title={operateTexts.couldNotLoadFiguresDatabase} /> : null}
      {data ? (
        <dl className="surface" style={grid}>
          {factsOf(data).map(([name, value]) => (
            <div key={name}>
              <Text component="dt" size="sm" c="dimmed">
                {name}
              </Text>
              <Text component="dd" m={0} fw={600} className="numbers">
                {value}
              </Text>
            </div>
          ))}
        </dl>
      ) : null}
    </section>
  )
}

function factsOf(data: DatabaseRecord): [name: string, value: string][] {
  const { engine, size_bytes, log_bytes, commits, cache_hits, cache_misses, connections } = data
  const reads = cache_hits + cache_misses
  const share = reads === 0 ? '–' : `${Math.floor((cache_hits / reads) * 1000) / 10} %`
  const used =
    connections && operateTexts.connectionsBusy(connections.busy, connections.most, connections.waiting)
  return [
    [operateTexts.engine, engineNames.get(engine) ?? engine],
    [operateTexts.size, bytes(size_bytes)],
    [operateTexts.log, log_bytes === null ? operateTexts.notShownUser : bytes(log_bytes)],
    [operateTexts.commits, commits.toLocaleString()],
    [operateTexts.foundInCache, share],
    ...(used === null ? [] : [[operateTexts.connections, used] satisfies [string, string]]),
  ]
}

const HOUR = 3_600

/** How the cluster is, on one page. */
export function OverviewScreen() {
  const { data: queues } = useQuery(queuesQuery)
  const { data: nodes } = useQuery(nodesQuery)
  const { data: errors } = useQuery({
    queryKey: ['logs', 'system', 'errors'],
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
          label={operateTexts.errorsLastHour}
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

interface NumberCardProps {
  readonly label: string
  /** Not known yet: a blank of the same height. */
  readonly value: number | undefined
  readonly bad?: boolean
  readonly href: string
}

/** One number that leads to what it counts. */
function NumberCard({ label, value, bad = false, href }: NumberCardProps) {
  return (
    <Link href={href} className={`surface ${classes.card}`}>
      <span className={classes.value} data-bad={bad || undefined}>
        {value?.toLocaleString() ?? ' '}
      </span>
      <span className={classes.label}>{label}</span>
    </Link>
  )
}
