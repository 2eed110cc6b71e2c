import { Anchor, Badge, Group, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from 'wouter'
import type { Blueprint } from '../../../shared/api/blueprints/blueprints.ts'
import { type Endpoint, endpointsQuery, pagesQuery, pendingQuery, timersQuery } from '../../api/blueprints.ts'
import { deployedPages, type PlacedPage } from '../../api/deployed-pages.ts'
import { endpointKey, type Traffic, trafficQuery } from '../../api/endpoint-traffic.ts'
import { duration } from '../../controls/amounts.ts'
import { rhythmLabels } from '../../controls/cron-labels.ts'
import { Icon } from '../../controls/icon.tsx'
import { whoMayPath } from '../../controls/lists/list-address.ts'
import { OpenPage } from '../../controls/pages/open-page.tsx'
import { MethodTag } from '../../controls/tags.tsx'
import { blueprintsTexts } from '../../texts/blueprints.ts'
import classes from './blueprint-endpoints.module.css'

interface BlueprintPagesProps {
  readonly blueprint: Blueprint
  readonly saved: readonly PlacedPage[]
}

/**
 * The pages of a blueprint; those of an active one can be opened. Which of them are public is said. Of a blueprint that was
 * deployed they are those that visitors reach, with the addresses that they have there.
 */
function BlueprintPages({ blueprint, saved }: BlueprintPagesProps) {
  const { _meta, version } = blueprint
  const { data: pending, isError } = useQuery({ ...pendingQuery(_meta.guid), enabled: version > 0 })
  const isKnown = version === 0 || pending !== undefined
  const pages = version > 0 && pending ? deployedPages(saved, pending) : saved
  if (pages.length === 0 || !(isKnown || isError)) return null
  const sorted = pages.toSorted((a, b) => (a.path ?? '').localeCompare(b.path ?? ''))
  return (
    <ul className={classes.list} aria-label={blueprintsTexts.pagesOf(blueprint.name)}>
      {sorted.slice(0, SHOWN).map(({ block, path, isPublic }) => (
        <li key={block}>
          <Group gap={8} wrap="nowrap">
            <MethodTag method="PAGE" />
            <Text size="sm" ff="monospace" truncate>
              {path ?? blueprintsTexts.fromAWire}
            </Text>
            {isPublic ? (
              <Badge
                size="xs"
                color="sand"
                style={{ flexShrink: 0 }}
                title={blueprintsTexts.everyoneCanOpenIt}
              >
                {blueprintsTexts.noSignIn}
              </Badge>
            ) : null}
            {blueprint.active && isKnown && path !== undefined ? (
              <>
                <OpenPage path={path} />
                <Anchor
                  component={Link}
                  href={whoMayPath('page', path)}
                  title={blueprintsTexts.whoMayOpen(path)}
                  aria-label={blueprintsTexts.whoMayOpen(path)}
                  style={{ display: 'inline-flex', flexShrink: 0 }}
                >
                  <Icon name="people" size={14} />
                </Anchor>
              </>
            ) : null}
          </Group>
        </li>
      ))}
      {pages.length > SHOWN ? (
        <Text component="li" size="xs" c="dimmed">
          {blueprintsTexts.andMorePages(pages.length - SHOWN)}
        </Text>
      ) : null}
    </ul>
  )
}

const SHOWN = 6

/** What a blueprint answers, and how often, how fast and how well on the node that was asked. */
export function BlueprintEndpoints({ blueprint }: { readonly blueprint: Blueprint }) {
  const { data: endpoints } = useQuery(endpointsQuery)
  const { data: traffic } = useQuery(trafficQuery)
  const { data: found } = useQuery(pagesQuery)
  const { data: schedules } = useQuery(timersQuery)
  const timers = schedules?.get(blueprint._meta.guid) ?? []
  const all = (endpoints?.get(blueprint._meta.guid) ?? []).toSorted(byUri)
  const pages = found?.get(blueprint._meta.guid) ?? []
  if (all.length + pages.length + timers.length === 0)
    return (
      <Text size="sm" c="dimmed">
        {endpoints && found && schedules ? blueprintsTexts.none : ' '}
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
        {timers.slice(0, SHOWN).map(({ block, cron, every }) => (
          <Group key={block} component="li" gap={8} wrap="nowrap">
            <MethodTag method={blueprintsTexts.timer} />
            <Text size="sm" truncate>
              {rhythmLabels(cron, every) ?? (cron || blueprintsTexts.atATime)}
            </Text>
          </Group>
        ))}
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
