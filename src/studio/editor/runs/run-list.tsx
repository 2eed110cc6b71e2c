import { Badge, Button, SegmentedControl, Skeleton, Stack, Text, UnstyledButton } from '@mantine/core'
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { RunSummary } from '../../../shared/api/blueprints/runs.ts'
import { duration } from '../../controls/amounts.ts'
import { EmptyState, ErrorNotice } from '../../controls/states.tsx'
import { Time } from '../../controls/time.tsx'
import { runsTexts } from '../../texts/runs.ts'
import { outcomeOf, recordedLabels, triggerLabels } from '../model/runs/run-labels.ts'
import { runsOf } from '../model/runs/run-list.ts'
import { useEditor, useEditorState } from '../state/editor-context.ts'
import { showRun } from '../state/shown-run.ts'
import { runCountsQuery, runsQuery } from './run-queries.ts'
import classes from './runs-panel.module.css'

/** The traced runs, the newest first. New ones come in at the top while one looks. */
export function RunList() {
  const blueprint = useEditorState((state) => state.guid)
  const [failed, setFailed] = useState(false)
  const runs = useInfiniteQuery(runsQuery(blueprint, failed))
  const { data: counts } = useQuery(runCountsQuery(blueprint))
  const { data, error, refetch } = runs
  if (error && !data)
    return <ErrorNotice error={error} title={runsTexts.couldNotLoadRuns} onRetry={refetch} />
  const shown = data && runsOf(data.pages)
  if (!failed && shown?.length === 0) return <NoRuns />
  return (
    <Stack gap="xs">
      <SegmentedControl
        size="xs"
        aria-label={runsTexts.whichRuns}
        data={[
          { value: 'all', label: runsTexts.allOf(counts?.all ?? '') },
          { value: 'failed', label: runsTexts.errorsOf(counts?.failed ?? '') },
        ]}
        value={failed ? 'failed' : 'all'}
        onChange={(to) => setFailed(to === 'failed')}
      />
      {shown === undefined ? <Waiting /> : null}
      {shown?.length === 0 ? (
        <Text size="sm" c="dimmed">
          {runsTexts.noErrors}
        </Text>
      ) : null}
      <ul className={classes.list} aria-label={runsTexts.runs}>
        {shown?.map((run) => (
          <li key={run.guid}>
            <RunRow run={run} />
          </li>
        ))}
      </ul>
      {runs.hasNextPage ? (
        <Button
          size="xs"
          variant="default"
          loading={runs.isFetchingNextPage}
          onClick={() => void runs.fetchNextPage()}
        >
          {runsTexts.showOlder}
        </Button>
      ) : null}
      <ErrorNotice error={runs.isFetchNextPageError ? error : null} title={runsTexts.couldNotLoadOlder} />
    </Stack>
  )
}

function RunRow({ run }: { readonly run: RunSummary }) {
  const editor = useEditor()
  const { word, color } = outcomeOf(run)
  return (
    <UnstyledButton className={classes.run} onClick={() => showRun(editor, run.guid)}>
      <span className={classes.outcome}>
        <Badge size="sm" color={color} variant={run.status === 'paused' ? 'filled' : 'light'} fullWidth>
          {word}
        </Badge>
      </span>
      <span className={classes.what}>
        <span className={classes.label}>{run.label}</span>
        <span className={classes.more}>
          {run.error ? (
            <span className={classes.failure}>{run.error.message}</span>
          ) : (
            <>
              {recordedLabels[run.recorded_as]}
              {run.trigger_type === 'http'
                ? (run.user ?? runsTexts.anonymous)
                : triggerLabels[run.trigger_type]}
            </>
          )}
        </span>
      </span>
      <span className={`${classes.when} numbers`}>
        <Time at={Date.parse(run.started) / 1_000} />
        <span>{duration(run.us / 1_000)}</span>
      </span>
    </UnstyledButton>
  )
}

function NoRuns() {
  const editor = useEditor()
  return (
    <EmptyState icon="operate" title={runsTexts.noRunsYet}>
      <span>{runsTexts.noRunsText}</span>
      <Button size="xs" variant="default" onClick={() => editor.set({ panel: 'try' })}>
        {runsTexts.tryIt}
      </Button>
    </EmptyState>
  )
}

function Waiting() {
  return (
    <Stack gap={8} role="status" aria-label={runsTexts.loading}>
      {['a', 'b', 'c', 'd'].map((key) => (
        <Skeleton key={key} height={46} />
      ))}
    </Stack>
  )
}
