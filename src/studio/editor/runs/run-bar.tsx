import { ActionIcon, Badge, Button, Tooltip } from '@mantine/core'
import type { Run } from '../../../shared/api/runs.ts'
import { duration } from '../../controls/amounts.ts'
import { Icon } from '../../controls/icon.tsx'
import { useShortcut } from '../../shell/shortcuts.ts'
import { outcomeOf, stepName } from '../model/run-words.ts'
import { useEditor, useEditorState } from '../state/editor-context.ts'
import { goByStep, goToStep, leaveRun } from '../state/shown-run.ts'
import { PauseControls } from './pause-controls.tsx'
import classes from './run-bar.module.css'
import { usePausedRuns, useShownRun } from './run-queries.ts'

/** Above the drawing while a run is shown on it: which one, how it went, and going through its steps. */
export function RunBar() {
  const editor = useEditor()
  const { shown, run, at, error } = useShownRun()
  const panel = useEditorState((state) => state.panel)
  const { data: allPaused = [] } = usePausedRuns()
  const paused = allPaused.find((one) => one.run === shown?.guid)
  if (!shown) return null
  return (
    <section className={classes.bar} aria-label="Shown run" data-paused={paused !== undefined || undefined}>
      {run ? (
        <>
          <Badge size="sm" variant="filled" color={outcomeOf(run).color}>
            {outcomeOf(run).word}
          </Badge>
          <span className={classes.label} title={`${run.label}, ${run.started}`}>
            {run.label}
          </span>
          {paused ? (
            <PauseControls paused={paused} />
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
              Details
            </Button>
          )}
        </>
      ) : (
        <span className={classes.detail} role="status">
          {error ? 'This run is no longer stored.' : 'Loading the run …'}
        </span>
      )}
      <Tooltip label="Show the blueprint without the run (Esc)">
        <ActionIcon
          size="sm"
          variant="subtle"
          color="gray"
          aria-label="Leave the run"
          onClick={() => leaveRun(editor)}
        >
          <Icon name="close" size={14} />
        </ActionIcon>
      </Tooltip>
    </section>
  )
}

function Steps({ run, at }: { readonly run: Run; readonly at: number | undefined }) {
  const editor = useEditor()
  const flow = useEditorState(({ drawing }) => drawing.flow)
  const catalogue = useEditorState((state) => state.catalogue)
  const step = at === undefined ? undefined : run.steps[at]
  const go = (by: 1 | -1) => () => goByStep(editor, run, by)
  useShortcut({ keys: 'arrowright', label: 'The next step of the run', group: 'Runs' }, go(1))
  useShortcut({ keys: 'arrowleft', label: 'The step before', group: 'Runs' }, go(-1))
  return (
    <span className={classes.steps}>
      <Tooltip label="The step before (←)">
        <ActionIcon size="sm" variant="subtle" color="gray" aria-label="The step before" onClick={go(-1)}>
          <span className={classes.back}>
            <Icon name="chevron" size={14} />
          </span>
        </ActionIcon>
      </Tooltip>
      <span className={`${classes.place} numbers`} aria-live="polite">
        {step && at !== undefined ? (
          <>
            {at + 1} of {run.steps.length}
            <span className={classes.spoken}>, {stepName(step, flow, catalogue)}</span>
          </>
        ) : (
          `${run.steps.length} ${run.steps.length === 1 ? 'step' : 'steps'}`
        )}
      </span>
      <Tooltip label="The next step (→)">
        <ActionIcon size="sm" variant="subtle" color="gray" aria-label="The next step" onClick={go(1)}>
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
        All
      </Button>
    </span>
  )
}
