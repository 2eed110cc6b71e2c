import {
  Alert,
  Badge,
  Button,
  Group,
  SegmentedControl,
  Skeleton,
  Stack,
  Text,
  UnstyledButton,
} from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useMemo, useState } from 'react'
import type { Compared, ReplayState, Run } from '../../../shared/api/blueprints/runs.ts'
import { groupsQuery } from '../../api/account.ts'
import { letterOfRun } from '../../api/operations.ts'
import { replayRun } from '../../api/runs.ts'
import { duration } from '../../controls/amounts.ts'
import { Icon } from '../../controls/icon.tsx'
import { type Difference, diffValues } from '../../controls/json/diff-values.ts'
import { shortJson } from '../../controls/json/json-text.ts'
import { JsonView } from '../../controls/json/json-view.tsx'
import { notifyAbout, notifyDone, notifyFailed } from '../../controls/notify.ts'
import { fileName, saveFile } from '../../controls/save-file.ts'
import { isRequestLetter, SendAgain } from '../../controls/send-again.tsx'
import { ErrorNotice, Message } from '../../controls/states.tsx'
import { Time } from '../../controls/time.tsx'
import { UndoRun } from '../../controls/undo-run.tsx'
import { countsTexts } from '../../texts/editor.ts'
import { runsTexts } from '../../texts/runs.ts'
import { outcomeOf, stepName, triggerLabels } from '../model/runs/run-labels.ts'
import { addTest } from '../state/editor-commands.ts'
import { useEditor, useEditorState } from '../state/editor-context.ts'
import { pinsForTry } from '../state/pinned-replies.ts'
import { leaveRun, showRun } from '../state/shown-run.ts'
import { ElsewhereNote, PinnedNote } from './pin-reply.tsx'
import { runQuery, runsKey, useShownRun } from './run-queries.ts'
import classes from './runs-panel.module.css'
import { StepList } from './step-list.tsx'

const states: readonly { readonly value: ReplayState; readonly label: string }[] = [
  { value: 'staged', label: runsTexts.canvas },
  { value: 'saved', label: runsTexts.saved },
  { value: 'deployed', label: runsTexts.deployed },
]

/** The same request once more, on the blocks as they are now, and with nothing left behind. */
function RunAgain({ run }: { readonly run: Run }) {
  const editor = useEditor()
  const client = useQueryClient()
  const blueprint = useEditorState((state) => state.guid)
  const [state, setState] = useState<ReplayState>('staged')
  const again = useMutation({
    mutationFn: async () => {
      // What was drawn a moment ago runs too.
      await editor.sync.settled()
      return replayRun(run.replay_of ?? run.guid, state, state === 'deployed' ? [] : pinsForTry(editor))
    },
    onSuccess: (replay) => {
      client.setQueryData(runQuery(replay.guid).queryKey, replay)
      void client.invalidateQueries({ queryKey: runsKey(blueprint) })
      showRun(editor, replay.guid)
    },
  })
  return (
    <section className={classes.again} aria-label={runsTexts.runAgain}>
      <h2 className={classes.title}>{runsTexts.runAgain}</h2>
      <Text size="xs" c="dimmed">
        {runsTexts.runAgainText}
      </Text>
      <PinnedNote />
      <SegmentedControl
        size="xs"
        fullWidth
        aria-label={runsTexts.blocksToRun}
        data={[...states]}
        value={state}
        onChange={(to) => setState(states.find(({ value }) => value === to)?.value ?? 'staged')}
      />
      <Group justify="flex-end">
        <Button size="xs" loading={again.isPending} onClick={() => again.mutate()}>
          {runsTexts.runAgainAndCompare}
        </Button>
      </Group>
      <ErrorNotice error={again.error} title={runsTexts.couldNotRunAgain} />
    </section>
  )
}

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
          {run.status === 'failed' || run.send_again ? <Letter run={run} /> : null}
          {isOver ? <RunAgain run={run} /> : null}
          {isOver && run.replay_of === null ? (
            <>
              <KeepAsTest run={run} />
              <Undo run={run} />
            </>
          ) : null}
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

/** Of a run that has failed behind its reply, or whose client was answered with a failure. Without queue_view there is no job to see. */
function Letter({ run }: { readonly run: Run }) {
  const { data, isPending } = useQuery({
    queryKey: ['jobs', 'letter', run.guid],
    queryFn: ({ signal }) => letterOfRun(run.guid, signal),
    retry: false,
  })
  const isAnswered = run.send_again !== null
  const of = data ? (isRequestLetter(data) ? data : null) : isAnswered && !isPending ? run : null
  if (!of) return null
  return (
    <Alert
      color="red"
      variant="light"
      p="xs"
      title={isAnswered ? runsTexts.answeredWithFailure : runsTexts.failedBehindReply}
    >
      <Stack gap={6} align="flex-start">
        <Text size="xs">
          {isAnswered ? runsTexts.answeredWithFailureText : runsTexts.failedBehindReplyText}
        </Text>
        <SendAgain of={of} size="xs" />
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
          : triggerLabels[run.trigger_type]}
      </Text>
      {run.error ? (
        <Alert color="red" variant="light" p="xs" mt={8}>
          <Text size="xs">
            <Message text={run.error.message} />
          </Text>
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

/** Saves a file with the test of flows that the run makes; says what to look at in it. */
function KeepAsTest({ run }: { readonly run: Run }) {
  const editor = useEditor()
  const client = useQueryClient()
  const [isMaking, setMaking] = useState(false)
  const keep = async () => {
    setMaking(true)
    try {
      const { scenarioOfRun } = await import('../../../shared/scenarios/scenario-of-run.ts')
      // Who may not see groups gets the test without those of the user, which it says.
      const groups = run.user === null ? [] : await client.fetchQuery(groupsQuery).catch(() => [])
      const names = groups.map(({ _meta, name }): [string, string] => [_meta.guid, name])
      const { scenario, notes } = scenarioOfRun(run, new Map(names))
      addTest(editor, run.label, scenario)
      const text = `${JSON.stringify(scenario, undefined, 2)}\n`
      saveFile(fileName(run.label, 'test.json'), new Blob([text], { type: 'application/json' }))
      if (notes.length > 0) notifyAbout(runsTexts.lookAtTest, notes.join(' '))
      else notifyDone(runsTexts.savedAsTest)
    } catch (error) {
      notifyFailed(runsTexts.couldNotKeepAsTest, error)
    } finally {
      setMaking(false)
    }
  }
  return (
    <Button size="xs" variant="default" loading={isMaking} title={runsTexts.keepAsTestText} onClick={keep}>
      {runsTexts.keepAsTest}
    </Button>
  )
}

/** What it wrote; a run whose writes were undone at its end has nothing to take back. */
function Undo({ run }: { readonly run: Run }) {
  const flow = useEditorState(({ drawing }) => drawing.flow)
  const catalogue = useEditorState((state) => state.catalogue)
  if (run.recorded_as === 'tried' || run.recorded_as === 'replay') return null
  const blockName = (block: string) => {
    const type = run.steps.find((step) => step.block === block)?.type ?? ''
    return stepName({ block, type }, flow, catalogue)
  }
  return <UndoRun run={run.guid} size="xs" variant="default" blockName={blockName} />
}

/** Guids and times of a document are new each time it is made: that they differ tells nothing. */
const isOwn = ({ path }: Difference) => /(^|\.)_meta(\.|$)/.test(path)

/** How a run that was repeated was answered then and now. */
function ReplayComparison({ compared }: { readonly compared: Compared }) {
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
