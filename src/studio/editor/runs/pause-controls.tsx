import { Button, Tooltip } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import type { PausedRun } from '../../../shared/api/blueprints/runs.ts'
import { ApiError } from '../../api/api-error.ts'
import { type Steering, steerRun } from '../../api/runs.ts'
import { notifyDone, notifyFailed } from '../../controls/notify.ts'
import { useShortcut } from '../../shell/shortcuts.ts'
import { runsTexts } from '../../texts/runs.ts'
import { stepName } from '../model/runs/run-labels.ts'
import { useEditor, useEditorState } from '../state/editor-context.ts'
import { showRun } from '../state/shown-run.ts'
import classes from './run-bar.module.css'
import { pausedQuery, runQuery } from './run-queries.ts'

/** A run that is to pause at the next block is there after this long, in milliseconds, unless a block waits. */
const SOON_MS = 120

/** Lets a paused run go on, or ends it. */
function useSteering() {
  const editor = useEditor()
  const blueprint = useEditorState((state) => state.guid)
  const client = useQueryClient()
  const look = (run: string) => {
    void client.invalidateQueries({ queryKey: runQuery(run).queryKey })
    void client.invalidateQueries({ queryKey: pausedQuery(blueprint).queryKey })
  }
  return useMutation({
    mutationFn: ({ run, how }: { readonly run: string; readonly how: Steering }) => steerRun(run, how),
    onMutate: ({ run }) => showRun(editor, run),
    onError: (error) => {
      if (error instanceof ApiError && error.status === 404) notifyDone(runsTexts.alreadyResumed)
      else notifyFailed(runsTexts.controlFailed, error)
    },
    onSettled: (_summary, _error, { run }) => {
      look(run)
      setTimeout(() => look(run), SOON_MS)
    },
  })
}

const commands: readonly { readonly how: Steering; readonly label: string; readonly help: string }[] = [
  { how: 'step', label: runsTexts.step, help: runsTexts.stepHelp },
  { how: 'resume', label: runsTexts.resume, help: runsTexts.resumeHelp },
  { how: 'stop', label: runsTexts.stop, help: runsTexts.stopHelp },
]

const keysOf = { group: runsTexts.runs, whileTyping: true } as const

/** Before which block a run stands still, for how long, and what can be done with it. */
export function PauseControls({ paused }: { readonly paused: PausedRun }) {
  const flow = useEditorState(({ drawing }) => drawing.flow)
  const catalogue = useEditorState((state) => state.catalogue)
  const steering = useSteering()
  const steer = (how: Steering) => () => {
    if (!steering.isPending) steering.mutate({ run: paused.run, how })
  }
  useShortcut({ ...keysOf, keys: 'f10', label: runsTexts.pausedRunOneStep }, steer('step'))
  useShortcut({ ...keysOf, keys: 'f8', label: runsTexts.pausedRunResume }, steer('resume'))
  useShortcut({ ...keysOf, keys: 'shift+f8', label: runsTexts.pausedRunStop }, steer('stop'))
  const name = stepName({ block: paused.block, type: paused.steps.at(-1)?.type ?? '' }, flow, catalogue)
  return (
    <>
      <span className={classes.detail} role="status">
        {runsTexts.before} <b>{name}</b>
      </span>
      <span className={classes.lease}>
        <Lease since={paused.since} until={paused.until} />
      </span>
      <span className={classes.steps}>
        {commands.map(({ how, label, help }) => (
          <Tooltip key={how} label={help}>
            <Button
              size="compact-xs"
              variant={how === 'step' ? 'filled' : 'default'}
              aria-disabled={steering.isPending}
              onClick={steer(how)}
            >
              {label}
            </Button>
          </Tooltip>
        ))}
      </span>
    </>
  )
}

interface LeaseProps {
  /** ISO 8601. */
  readonly since: string
  readonly until: string
}

/** How long a paused run still waits. */
function Lease({ since, until }: LeaseProps) {
  const left = useSecondsLeft(until)
  const whole = Math.max(1, (Date.parse(until) - Date.parse(since)) / 1_000)
  return (
    <span title={runsTexts.timeLeftHelp}>
      <progress value={left} max={whole} aria-label={runsTexts.timeLeft} />{' '}
      <span className="numbers">{runsTexts.secondsLeft(left)}</span>
    </span>
  )
}

function useSecondsLeft(until: string): number {
  const [now, setNow] = useState(Date.now)
  useEffect(() => {
    setNow(Date.now())
    const timer = setInterval(() => setNow(Date.now()), 500)
    return () => clearInterval(timer)
  }, [])
  return Math.max(0, Math.ceil((Date.parse(until) - now) / 1_000))
}
