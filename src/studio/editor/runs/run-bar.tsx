import { ActionIcon, Badge, Button, Tooltip } from '@mantine/core'
import type { Run } from '../../../shared/api/blueprints/runs.ts'
import { duration } from '../../controls/amounts.ts'
import { Icon } from '../../controls/icon.tsx'
import { useShortcut } from '../../shell/shortcuts.ts'
import { countsTexts } from '../../texts/editor.ts'
import { runsTexts } from '../../texts/runs.ts'
import { outcomeOf, stepName } from '../model/runs/run-labels.ts'
import { useEditor, useEditorState } from '../state/editor-context.ts'
import { goByStep, goToStep, leaveRun } from '../state/shown-run.ts'
import { PauseControls, SteeringKeys, useSteering } from './pause-controls.tsx'
import classes from './run-bar.module.css'
import { usePausedRuns, useShownRun } from './run-queries.ts'

/** Above the drawing while a run is shown on it: which one, how it went, and going through its steps. */
export function RunBar() {
  const editor = useEditor()
  const { shown, run, at, error } = useShownRun()
  const panel = useEditorState((state) => state.panel)
  const { data: allPaused = [] } = usePausedRuns()
  const paused = allPaused.find((one) => one.run === shown?.guid)
  const isOver = run !== undefined && run.status !== 'running' && run.status !== 'paused'
  const { isSteering, steer } = useSteering(shown?.guid, paused, isOver)
  if (!shown) return null
  return (
    <section
      className={classes.bar}
      aria-label={runsTexts.shownRun}
      data-paused={paused !== undefined || undefined}
    >
      {paused || isSteering ? <SteeringKeys onSteer={steer} /> : null}
      {run ? (
        <>
          <Badge size="sm" variant="filled" color={outcomeOf(run).color}>
            {outcomeOf(run).word}
          </Badge>
          <span className={classes.label} title={`${run.label}, ${run.started}`}>
            {run.label}
          </span>
          {paused ? (
            <PauseControls paused={paused} onSteer={steer} />
          ) : (
            <>
              <span className={`${classes.detail} ${classes.duration} numbers`}>
                {duration(run.us / 1_000)}
              </span>
              <Steps run={run} at={at} />
            </>
          )}
          {panel === 'runs' ? null : (
            <Button
              size="compact-xs"
              variant="default"
              style={{ flexShrink: 0 }}
              onClick={() => editor.set({ panel: 'runs' })}
            >
              {runsTexts.details}
            </Button>
          )}
        </>
      ) : (
        <span className={classes.detail} role="status">
          {error ? runsTexts.runGone : runsTexts.loadingTheRun}
        </span>
      )}
      <LeaveRun />
    </section>
  )
}

function LeaveRun() {
  const editor = useEditor()
  return (
    <Tooltip label={runsTexts.leaveHelp}>
      <ActionIcon
        size="sm"
        variant="subtle"
        color="gray"
        aria-label={runsTexts.leaveTheRun}
        onClick={() => leaveRun(editor)}
      >
        <Icon name="close" size={14} />
      </ActionIcon>
    </Tooltip>
  )
}

function Steps({ run, at }: { readonly run: Run; readonly at: number | undefined }) {
  const editor = useEditor()
  const flow = useEditorState(({ drawing }) => drawing.flow)
  const catalogue = useEditorState((state) => state.catalogue)
  const step = at === undefined ? undefined : run.steps[at]
  const go = (by: 1 | -1) => () => goByStep(editor, run, by)
  useShortcut({ keys: 'arrowright', label: runsTexts.nextStepButton, group: runsTexts.runs }, go(1))
  useShortcut({ keys: 'arrowleft', label: runsTexts.theStepBefore, group: runsTexts.runs }, go(-1))
  return (
    <span className={classes.steps}>
      <Tooltip label={runsTexts.stepBeforeHelp}>
        <ActionIcon
          size="sm"
          variant="subtle"
          color="gray"
          aria-label={runsTexts.theStepBefore}
          onClick={go(-1)}
        >
          <span className={classes.back}>
            <Icon name="chevron" size={14} />
          </span>
        </ActionIcon>
      </Tooltip>
      <span className={`${classes.place} numbers`} aria-live="polite">
        {step && at !== undefined ? (
          <>
            {runsTexts.stepOf(at + 1, run.steps.length)}
            <span className={classes.spoken}>, {stepName(step, flow, catalogue)}</span>
          </>
        ) : (
          countsTexts.steps(run.steps.length)
        )}
      </span>
      <Tooltip label={runsTexts.nextStepHelp}>
        <ActionIcon
          size="sm"
          variant="subtle"
          color="gray"
          aria-label={runsTexts.theNextStep}
          onClick={go(1)}
        >
          <Icon name="chevron" size={14} />
        </ActionIcon>
      </Tooltip>
      <Button
        size="compact-xs"
        variant="subtle"
        color="gray"
        style={{ visibility: at === undefined ? 'hidden' : 'visible' }}
        onClick={() => goToStep(editor, undefined)}
      >
        {runsTexts.all}
      </Button>
    </span>
  )
}
