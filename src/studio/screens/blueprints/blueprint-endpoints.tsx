import { Group, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { Blueprint } from '../../../shared/api/blueprints/blueprints.ts'
import { type Endpoint, endpointsQuery, pagesQuery } from '../../api/blueprints.ts'
import { endpointKey, type Traffic, trafficQuery } from '../../api/endpoint-traffic.ts'
import { duration } from '../../controls/amounts.ts'
import { MethodTag } from '../../controls/method-tag.tsx'
import { blueprintsTexts } from '../../texts/blueprints.ts'
import classes from './blueprint-endpoints.module.css'
import { BlueprintPages } from './blueprint-pages.tsx'

const SHOWN = 6

/** What a blueprint answers, and how often, how fast and how well on the node that was asked. */
export function BlueprintEndpoints({ blueprint }: { readonly blueprint: Blueprint }) {
  const { data: endpoints } = useQuery(endpointsQuery)
  const { data: traffic } = useQuery(trafficQuery)
  const { data: found } = useQuery(pagesQuery)
  const all = (endpoints?.get(blueprint._meta.guid) ?? []).toSorted(byUri)
  const pages = found?.get(blueprint._meta.guid) ?? []
  if (all.length === 0 && pages.length > 0) return <BlueprintPages blueprint={blueprint} saved={pages} />
  if (all.length === 0)
    return (
      <Text size="sm" c="dimmed">
        {endpoints && found ? blueprintsTexts.none : ' '}
      </Text>
    )
  return (
    <>
      <ul className={classes.list}>
        {all.slice(0, SHOWN).map(({ method, uri, block }) => (
          <li key={`${block} ${method} ${uri}`}>
            <Group gap={8} wrap="nowrap">
              <MethodTag method={method} />
              <Text size="sm" ff="monospace" truncate>
                {uri === '' ? blueprintsTexts.fromAWire : uri}
              </Text>
              <Numbers traffic={traffic?.endpoints.get(endpointKey(method, uri))} />
            </Group>
          </li>
        ))}
        {all.length > SHOWN ? (
          <Text component="li" size="xs" c="dimmed">
            {blueprintsTexts.andMore(all.length - SHOWN)}
          </Text>
        ) : null}
      </ul>
      <BlueprintPages blueprint={blueprint} saved={pages} />
    </>
  )
}

function byUri(a: Endpoint, b: Endpoint): number {
  return a.uri.localeCompare(b.uri) || a.method.localeCompare(b.method)
}

function Numbers({ traffic }: { readonly traffic: Traffic | undefined }) {
  if (!traffic || traffic.requests === 0) return null
  const { requests, rate, p50, p95, errors } = traffic
  return (
    <Text size="xs" c="dimmed" className={`numbers ${classes.numbers}`}>
      <span title={blueprintsTexts.requestsSinceStart(requests.toLocaleString())}>
        {rate === undefined || rate < 0.05
          ? `${requests.toLocaleString()} ×`
          : blueprintsTexts.perSecond(rate.toFixed(1))}
      </span>
      {p50 === undefined ? null : (
        <span title={blueprintsTexts.p50Help}>{blueprintsTexts.p50(duration(p50))}</span>
      )}
      {p95 === undefined ? null : (
        <span title={blueprintsTexts.p95Help}>{blueprintsTexts.p95(duration(p95))}</span>
      )}
      {errors > 0 ? (
        <Text span c="red" inherit title={blueprintsTexts.repliesWith5xx}>
          {blueprintsTexts.failed(errors)}
        </Text>
      ) : null}
    </Text>
  )
}
