import { Alert, Badge, Group, Text } from '@mantine/core'
import { useMemo } from 'react'
import type { Compared } from '../../../shared/api/blueprints/runs.ts'
import { type Difference, diffValues } from '../../controls/json/diff-values.ts'
import { shortJson } from '../../controls/json/json-text.ts'
import { countsTexts } from '../../texts/counts.ts'
import { runsTexts } from '../../texts/runs.ts'
import { outcomeOf } from '../model/runs/run-labels.ts'
import classes from './runs-panel.module.css'

/** Guids and times of a document are new each time it is made: that they differ tells nothing. */
const isOwn = ({ path }: Difference) => /(^|\.)_meta(\.|$)/.test(path)

/** How a run that was repeated was answered then and now. */
export function ReplayComparison({ compared }: { readonly compared: Compared }) {
  const { status, same, before, after } = compared
  const differences = useMemo(() => diffValues(before, after).filter((one) => !isOwn(one)), [before, after])
  const [then, now] = status
  return (
    <section className={classes.again} aria-label={runsTexts.comparedRunBefore}>
      <h2 className={classes.title}>{runsTexts.comparedRunBefore}</h2>
      <Group gap={8}>
        <Status status={then} />
        <Text size="sm">→</Text>
        <Status status={now} />
        <Text size="sm" fw={600} role="status">
          {same
            ? runsTexts.sameReply
            : differences.length === 0
              ? runsTexts.differentReply
              : countsTexts.differences(differences.length)}
        </Text>
      </Group>
      <ul className={classes.list} aria-label={runsTexts.differences}>
        {differences.map((one) => (
          <li key={one.path} className={classes.difference}>
            <span className={classes.path}>{one.path === '' ? runsTexts.theWholeBody : one.path}</span>
            {one.change === 'added' ? null : (
              <span className={classes.before}>
                <span className={classes.spoken}>{runsTexts.before} </span>
                {shortJson(one.before, MOST)}
              </span>
            )}
            {one.change === 'removed' ? null : (
              <span className={classes.after}>
                <span className={classes.spoken}>{runsTexts.now} </span>
                {shortJson(one.after, MOST)}
              </span>
            )}
          </li>
        ))}
      </ul>
      <Alert color="petrol" variant="light" p="xs">
        <Text size="xs">{runsTexts.writesUndone}</Text>
      </Alert>
    </section>
  )
}

const MOST = 300

function Status({ status }: { readonly status: number | null }) {
  if (status === null) return <Badge color="gray">{runsTexts.noReply}</Badge>
  return (
    <Badge color={outcomeOf({ status: 'ended', reply: { status } }).color} variant="filled">
      {status}
    </Badge>
  )
}
