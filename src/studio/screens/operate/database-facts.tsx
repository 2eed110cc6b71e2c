import { Text, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { DatabaseRecord } from '../../../shared/api/operate/nodes.ts'
import { databaseQuery } from '../../api/figures.ts'
import { bytes } from '../../controls/amounts.ts'
import { ErrorNotice } from '../../controls/error-notice.tsx'
import { operateTexts } from '../../texts/operate.ts'

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
export function DatabaseFacts() {
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
