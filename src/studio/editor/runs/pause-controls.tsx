import { Button, Tooltip } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import type { PausedRun } from '../../../shared/api/blueprints/runs.ts'
import { ApiError } from '../../api/api-error.ts'
import { steerRun } from '../../api/runs.ts'
import { notifyDone, notifyFailed } from '../../controls/notify.ts'
import { useShortcut } from '../../shell/shortcuts.ts'
import { runsTexts } from '../../texts/runs.ts'
import { stepName } from '../model/runs/run-labels.ts'
import { freeSteering, type Steering, type SteeringState, steer, steeredTo } from '../model/runs/steering.ts'
import { useEditor, useEditorState } from '../state/editor-context.ts'
import { showRun } from '../state/shown-run.ts'
import classes from './run-bar.module.css'
import { pausedQuery, runQuery } from './run-queries.ts'

/** A run that is to pause at the next block is there after this long, in milliseconds, unless a block waits. */
const SOON_MS = 120

/** Lets the shown run go on while it is paused, or ends it: one command after the other, also where keys come faster. */
export function useSteering(run: string | undefined, paused: PausedRun | undefined, isOver: boolean) {
  const editor = useEditor()
  const blueprint = useEditorState((state) => state.guid)
  const client = useQueryClient()
  const state = useRef(freeSteering)
  const [isSteering, setSteering] = useState(false)
  const begin = (next: SteeringState) => {
    state.current = next
    setSteering(next.sentAt !== undefined)
  }
  const look = (guid: string) => {
    void client.invalidateQueries({ queryKey: runQuery(guid).queryKey })
    void client.invalidateQueries({ queryKey: pausedQuery(blueprint).queryKey })
  }
  const sending = useMutation({
    mutationFn: ({ guid, how }: { readonly guid: string; readonly how: Steering }) => steerRun(guid, how),
    onMutate: ({ guid }) => showRun(editor, guid),
    onError: (error) => {
      begin(freeSteering)
      if (error instanceof ApiError && error.status === 404) notifyDone(runsTexts.alreadyResumed)
      else notifyFailed(runsTexts.controlFailed, error)
    },
    onSettled: (_summary, _error, { guid }) => {
      look(guid)
      setTimeout(() => look(guid), SOON_MS)
    },
  })
  const done = ({ state: next, send }: ReturnType<typeof steer>) => {
    begin(next)
    if (send && run !== undefined) sending.mutate({ guid: run, how: send })
  }
  // The same block comes again in a loop, with more steps before it.
  const place = paused && `${paused.since} ${paused.steps.length}`
  // biome-ignore lint/correctness/useExhaustiveDependencies: the run has come to stand somewhere else
  useEffect(() => {
    if (place !== undefined) done(steeredTo(state.current, place))
  }, [place])
  // biome-ignore lint/correctness/useExhaustiveDependencies: another run is shown, or this one has ended
  useEffect(() => {
    if (isOver && state.current.waiting.length > 0) notifyDone(runsTexts.alreadyResumed)
    if (place === undefined) begin(freeSteering)
  }, [run, isOver])
  return { isSteering, steer: (how: Steering) => done(steer(state.current, how, place)) }
}

const commands: readonly { readonly how: Steering; readonly label: string; readonly help: string }[] = [
  { how: 'step', label: runsTexts.step, help: runsTexts.stepHelp },
  { how: 'resume', label: runsTexts.resume, help: runsTexts.resumeHelp },
  { how: 'stop', label: runsTexts.stop, help: runsTexts.stopHelp },
]

const keysOf = { group: runsTexts.runs, whileTyping: true } as const

interface SteeringProps {
  readonly onSteer: (how: Steering) => void
}

/** The keys also count while the run goes from one block to the next. */
export function SteeringKeys({ onSteer }: SteeringProps) {
  useShortcut({ ...keysOf, keys: 'f10', label: runsTexts.pausedRunOneStep }, () => onSteer('step'))
  useShortcut({ ...keysOf, keys: 'f8', label: runsTexts.pausedRunResume }, () => onSteer('resume'))
  useShortcut({ ...keysOf, keys: 'shift+f8', label: runsTexts.pausedRunStop }, () => onSteer('stop'))
  return null
}

/** Before which block a run stands still, for how long, and what can be done with it. */
export function PauseControls({ paused, onSteer }: SteeringProps & { readonly paused: PausedRun }) {
  const flow = useEditorState(({ drawing }) => drawing.flow)
  const catalogue = useEditorState((state) => state.catalogue)
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
              onClick={() => onSteer(how)}
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
