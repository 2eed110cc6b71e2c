import { Anchor, Code, Group, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from 'wouter'
import type { Wait } from '../../../../shared/api/operate/waits.ts'
import { isJsonObject, type JsonValue } from '../../../../shared/json.ts'
import { blueprintNamesQuery } from '../../../api/blueprints.ts'
import { Facts } from '../../../controls/facts.tsx'
import { ScopeBadge } from '../../../controls/scope-badge.tsx'
import { Time } from '../../../controls/time.tsx'
import { waitsTexts } from '../../../texts/waits.ts'
import { kindLabels } from './wait-ways.ts'

/** What is known of a wait of any kind. */
export function WaitFacts({ wait }: { readonly wait: Wait }) {
  const { kind, state, storage, blueprint, block, until, user, version, job, run, _meta } = wait
  const { data } = useQuery(blueprintNamesQuery)
  return (
    <Facts
      facts={{
        [waitsTexts.waitsFor]: storage === '' ? kindLabels[kind] : waitsTexts.of(kindLabels[kind], storage),
        [waitsTexts.state]: state === 'resumed' ? waitsTexts.resumed : waitsTexts.waiting,
        [waitsTexts.since]: <Time at={_meta.created} exact />,
        [waitsTexts.until]: until === null ? waitsTexts.noTimeLimit : <Time at={until} exact />,
        [waitsTexts.blueprint]: (
          <Anchor component={Link} href={`/blueprints/${blueprint}?block=${block}`} size="sm">
            {data?.get(blueprint) ?? waitsTexts.showItsBlock}
          </Anchor>
        ),
        [waitsTexts.whoMayDecide]: kind === 'approval' ? <Deciders wait={wait} /> : null,
        [waitsTexts.begunFor]: user?.username,
        [waitsTexts.continuesOn]:
          version === 'same' ? waitsTexts.versionBegan : waitsTexts.theDeployedVersion,
        [waitsTexts.job]:
          job === '' ? null : (
            <Anchor component={Link} href={`/operate/queues?open=${job}`} size="sm">
              {waitsTexts.showItsJob}
            </Anchor>
          ),
        [waitsTexts.run]: <Code>{run}</Code>,
        [waitsTexts.guid]: <Code>{_meta.guid}</Code>,
      }}
    />
  )
}

function Deciders({ wait: { scopes, state, _meta } }: { readonly wait: Wait }) {
  if (scopes.length === 0) return waitsTexts.holdersOfItsLink
  return (
    <Group gap={6}>
      {scopes.map((scope) => (
        <ScopeBadge key={scope} scope={scope} />
      ))}
      {state === 'waiting' ? (
        <Anchor href={`/_approvals/${_meta.guid}`} target="_blank" rel="noreferrer" size="sm">
          {waitsTexts.openItsPage}
        </Anchor>
      ) : null}
    </Group>
  )
}

/** Text and fields, as the page of an approval shows them. */
export function ApprovalDetails({ details }: { readonly details: JsonValue }) {
  const { text, fields } = isJsonObject(details) ? details : {}
  return (
    <>
      {typeof text === 'string' && text !== '' ? (
        <Text size="sm" style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}>
          {text}
        </Text>
      ) : null}
      {isJsonObject(fields) && Object.keys(fields).length > 0 ? <Facts facts={shown(fields)} /> : null}
    </>
  )
}

function shown(fields: Readonly<Record<string, JsonValue>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [
      name,
      typeof value === 'string' ? value : JSON.stringify(value),
    ]),
  )
}
