import { Alert, Badge, Group, Skeleton, Stack, Text, UnstyledButton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { Run } from '../../../shared/api/blueprints/runs.ts'
import { letterOfRun } from '../../api/operations.ts'
import { duration } from '../../controls/amounts.ts'
import { ErrorNotice } from '../../controls/error-notice.tsx'
import { Icon } from '../../controls/icon.tsx'
import { JsonView } from '../../controls/json/json-view.tsx'
import { isRequestLetter, SendAgain } from '../../controls/send-again.tsx'
import { Time } from '../../controls/time.tsx'
import { countsTexts } from '../../texts/counts.ts'
import { runsTexts } from '../../texts/runs.ts'
import { outcomeOf, triggerWords } from '../model/runs/run-words.ts'
import { useEditor, useEditorState } from '../state/editor-context.ts'
import { leaveRun } from '../state/shown-run.ts'
import { ElsewhereNote } from './elsewhere-note.tsx'
import { KeepAsTest } from './keep-as-test.tsx'
import { ReplayComparison } from './replay-comparison.tsx'
import { RunAgain } from './run-again.tsx'
import { useShownRun } from './run-queries.ts'
import classes from './runs-panel.module.css'
import { StepList } from './step-list.tsx'

/** The run that is drawn: how it went, its steps one by one, what was asked and answered, and running it again. */
export function RunDetails() {
  const editor = useEditor()
  const { run, at, error, refetch } = useShownRun()
  const isOver = run?.status === 'ended' || run?.status === 'failed'
  return (
    <>
      <UnstyledButton className={classes.back} onClick={() => leaveRun(editor)}>
        <span className={classes.backSign}>
          <Icon name="chevron" size={13} />
        </span>
        {runsTexts.allRuns}
      </UnstyledButton>
      {error ? <ErrorNotice error={error} title={runsTexts.runFailed} onRetry={refetch} /> : null}
      {run ? (
        <>
          <Head run={run} />
          {run.compared ? <ReplayComparison compared={run.compared} /> : null}
          <section aria-label={runsTexts.steps}>
            <h2 className={classes.title}>{countsTexts.steps(run.steps.length)}</h2>
            <StepList run={run} at={at} />
            {run.cut ? (
              <Text size="xs" c="dimmed" mt={6}>
                {runsTexts.shortened}
              </Text>
            ) : null}
          </section>
          <Exchange run={run} />
          {run.status === 'failed' ? <Letter run={run} /> : null}
          {isOver ? <RunAgain run={run} /> : null}
          {isOver && run.replay_of === null ? <KeepAsTest run={run} /> : null}
        </>
      ) : error ? null : (
        <Stack gap={8} role="status" aria-label={runsTexts.loading}>
          <Skeleton height={40} />
          <Skeleton height={120} />
        </Stack>
      )}
    </>
  )
}

/** Of a run that has failed behind its reply. Without queue_view there is none to see. */
function Letter({ run }: { readonly run: Run }) {
  const { data } = useQuery({
    queryKey: ['jobs', 'letter', run.guid],
    queryFn: ({ signal }) => letterOfRun(run.guid, signal),
    retry: false,
  })
  if (!data || !isRequestLetter(data)) return null
  return (
    <Alert color="red" variant="light" p="xs" title={runsTexts.failedBehindReply}>
      <Stack gap={6} align="flex-start">
        <Text size="xs">{runsTexts.failedBehindReplyText}</Text>
        <SendAgain job={data} size="xs" />
      </Stack>
    </Alert>
  )
}

function Head({ run }: { readonly run: Run }) {
  const version = useEditorState(({ blueprint }) => blueprint?.version)
  const isHere = useEditorState(({ guid }) => guid === run.blueprint)
  const { word, color } = outcomeOf(run)
  const what = runsTexts.ranBlocks(run.deployment)
  return (
    <div>
      <Group gap={8} wrap="nowrap">
        <Badge color={color} variant="filled" size="sm">
          {word}
        </Badge>
        <Text fw={650} size="sm" truncate>
          {run.label}
        </Text>
      </Group>
      <Text size="xs" c="dimmed" mt={4} className="numbers">
        <Time at={Date.parse(run.started) / 1_000} />, {duration(run.us / 1_000)}, {what},{' '}
        {run.trigger_type === 'http'
          ? runsTexts.asUser(run.user ?? runsTexts.anonymous)
          : triggerWords[run.trigger_type]}
      </Text>
      {run.error ? (
        <Alert color="red" variant="light" p="xs" mt={8}>
          <Text size="xs">{run.error.message}</Text>
        </Alert>
      ) : null}
      <ElsewhereNote run={run} />
      {run.deployment !== 0 && isHere && version !== undefined && run.deployment !== version ? (
        <Text size="xs" c="dimmed" mt={4}>
          {runsTexts.otherVersion(run.deployment)}
        </Text>
      ) : null}
    </div>
  )
}

/** What was asked and answered; shut, since the steps are what one comes for. */
function Exchange({ run }: { readonly run: Run }) {
  const parts = [
    { title: runsTexts.request, value: run.request },
    { title: runsTexts.reply, value: run.reply },
    { title: runsTexts.result, value: run.result },
  ].filter(({ value }) => value !== null && value !== undefined)
  return parts.length === 0 ? null : (
    <div>
      {parts.map((part) => (
        <Fold key={part.title} {...part} />
      ))}
    </div>
  )
}

function Fold({ title, value }: { readonly title: string; readonly value: unknown }) {
  const [isOpen, setOpen] = useState(false)
  return (
    <details className={classes.fold} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{title}</summary>
      {isOpen ? <JsonView value={value} label={title} /> : null}
    </details>
  )
}
